"""Asking for newer data: the one thing that people do with the mirror itself."""

from collections.abc import Collection

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from portal.core.mirror import schedule
from portal.core.mirror.kinds import SYNCED, Kind
from tenants.access import TenantRequest, View, tenant_view
from tenants.landing import home_of
from tenants.roles import Permission


def refreshing(permission: Permission, kinds: Collection[Kind]) -> View:
    """The view that has one of `kinds` read again soon and goes back to the page, for those with `permission`."""

    @tenant_view(permission, methods=["POST"])
    def refresh(request: TenantRequest, kind: str) -> HttpResponse:
        if kind not in kinds:
            raise Http404
        return _ask(request, Kind(kind))

    return refresh


refresh = refreshing(Permission.TENANT_VIEW, SYNCED)


def _ask(request: TenantRequest, kind: Kind) -> HttpResponse:
    tenant = request.tenant
    if schedule.ask(tenant, kind, by=request.user):
        messages.info(request, _("Loading from the service. Reload the page to see new data."))
    else:
        messages.info(request, _("Already loading, or loaded a moment ago."))
    back = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith(tenant.get_absolute_url())
    return redirect(back if here else home_of(tenant, request.access.permissions))
