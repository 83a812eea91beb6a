"""The views that request newer or older data from the service."""

from collections.abc import Collection
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.moments import read_day
from portal.domain.mirror import sync_schedule
from portal.domain.mirror.coverage import load_coverage, request_days
from portal.domain.mirror.kinds import SYNCED_KINDS, MirrorKind
from tenants import audit
from tenants.access import TenantRequest, View, tenant_view
from tenants.landing import first_page_of
from tenants.reauthentication import nearest_page
from tenants.roles import Permission
from tenants.wording import coded_sentence


def refresh_view(permission: Permission, kinds: Collection[MirrorKind]) -> View:
    """Return a view that requests a reading of one of `kinds` and returns to the page; it needs `permission`."""

    @tenant_view(permission, methods=["POST"])
    def refresh(request: TenantRequest, kind: str) -> HttpResponse:
        if kind not in kinds:
            raise Http404
        return _request_reading(request, MirrorKind(kind))

    return refresh


refresh = refresh_view(Permission.TENANT_VIEW, SYNCED_KINDS)


@tenant_view(Permission.LOGS_VIEW, methods=["POST"])
def load_days(request: TenantRequest) -> HttpResponse:
    """Request older days of the log, one for each `day` in the form. Days that cannot be read are left out."""
    asked = [day for text in request.POST.getlist("day")[:400] if (day := read_day(text))]
    with transaction.atomic():
        days = request_days(asked)
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
    if len(days) < len(asked) or not asked:
        messages.warning(request, _("Days that are loaded, being loaded or over a year old were left out."))
    return _back(request)


def _author(request: TenantRequest) -> dict[str, Any]:
    return {"tenant": request.tenant, "by": request.user, "support_session": request.access.support_session}


def _request_reading(request: TenantRequest, kind: MirrorKind) -> HttpResponse:
    tenant = request.tenant
    if sync_schedule.request_reading(tenant, kind, by=request.user):
        messages.info(request, _("Loading from the service. Reload the page to see new data."))
    else:
        messages.info(request, _("Already loading, or loaded a moment ago."))
    return _back(request)


def _back(request: TenantRequest) -> HttpResponse:
    tenant, back = request.tenant, request.POST.get("next", "")
    home = first_page_of(tenant, request.access.permissions)
    here = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(nearest_page(back, within=tenant.get_absolute_url(), home=home) if here else home)
