"""The view that requests older days of the log from the service."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.moments import read_day
from portal.domain.history.coverage import load_coverage, request_days
from portal.domain.sync.views import redirect_back
from tenants import audit
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission
from tenants.sentences import coded_sentence


@tenant_view(Permission.LOGS_VIEW, methods=["POST"])
def load_days(request: TenantRequest) -> HttpResponse:
    """Request older days of the log, one for each `day` in the form. Days that cannot be read are left out."""
    requested = [day for text in request.POST.getlist("day")[:400] if (day := read_day(text))]
    with transaction.atomic():
        days = request_days(requested)
        if days:
            calls, named = load_coverage().calls_for(len(days)), ", ".join(day.isoformat() for day in days)
            audit.record(
                **_author(request),
                action="log.days_asked",
                target="log",
                summary=coded_sentence("log.days_asked", n=len(days), days=named),
                after={"days": named, "calls": calls},
            )
    if days:
        words = ngettext(
            "Loading %(n)s day (about %(calls)s API calls).",
            "Loading %(n)s days (about %(calls)s API calls).",
            len(days),
        )
        messages.info(request, words % {"n": len(days), "calls": calls})
    if len(days) < len(requested) or not requested:
        messages.warning(request, _("Days that are loaded, being loaded or over a year old were left out."))
    return redirect_back(request)


def _author(request: TenantRequest) -> dict[str, Any]:
    return {"tenant": request.tenant, "by": request.user, "support_session": request.access.support_session}
