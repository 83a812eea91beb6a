"""Asking for newer data: the one thing that people do with the mirror itself."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from portal.mirror import schedule
from portal.mirror.kinds import SYNCED, Kind
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.TENANT_VIEW, methods=["POST"])
def refresh(request: HttpRequest, kind: str) -> HttpResponse:
    """Have a kind read again soon, and go back to the page."""
    if kind not in SYNCED:
        raise Http404
    tenant = request.tenant  # type: ignore[attr-defined]
    if schedule.ask(tenant, Kind(kind), by=request.user):
        messages.info(request, _("The service is being read again. The page shows it after a reload."))
    else:
        messages.info(request, _("It is being read, or was a moment ago."))
    back = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith(tenant.get_absolute_url())
    return redirect(back if here else tenant.get_absolute_url())
