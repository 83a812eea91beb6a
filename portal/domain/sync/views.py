"""The views that request newer data from the service."""

from collections.abc import Collection

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from portal.domain.events import SYNCED_KINDS, MirrorKind
from portal.domain.sync import schedule
from tenants.access import TenantRequest, View, first_page_of, tenant_view
from tenants.reauthentication import nearest_page
from tenants.roles import Permission


def refresh_view(permission: Permission, kinds: Collection[MirrorKind]) -> View:
    """Return a view that requests a reading of one of `kinds` and returns to the page; it needs `permission`."""

    @tenant_view(permission, methods=["POST"])
    def refresh(request: TenantRequest, kind: str) -> HttpResponse:
        if kind not in kinds:
            raise Http404
        return _request_reading(request, MirrorKind(kind))

    return refresh


refresh = refresh_view(Permission.TENANT_VIEW, SYNCED_KINDS)


def _request_reading(request: TenantRequest, kind: MirrorKind) -> HttpResponse:
    tenant = request.tenant
    if schedule.request_reading(tenant, kind, by=request.user):
        messages.info(request, _("Loading from the service. Reload the page to see new data."))
    else:
        messages.info(request, _("Nothing was requested: it is loading, or was loaded a moment ago. Reload the page."))
    return redirect_back(request)


def redirect_back(request: TenantRequest) -> HttpResponse:
    """Return to the page in the form's field `next`, or to the nearest page of the tenant."""
    tenant, back = request.tenant, request.POST.get("next", "")
    home = first_page_of(tenant, request.access.permissions)
    is_within_site = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(nearest_page(back, within=tenant.get_absolute_url(), home=home) if is_within_site else home)
