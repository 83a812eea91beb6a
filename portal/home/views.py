"""The overview page, the page after signing in, and the banner for a lost connection."""

from collections.abc import Iterator

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.ui import live_updates
from portal.base.ui.frame import Banner, Rank
from portal.base.ui.live_updates import page_path
from portal.home import queries
from tenants.access import SignedInRequest, TenantRequest, first_page_of, tenant_view, tenants_of
from tenants.audit_log import queries as trail
from tenants.models import Connection
from tenants.roles import Permission

# How many recent actions the overview shows.
_FEW = 8


@tenant_view(Permission.TENANT_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """Show the overview, or only the part that is updated automatically."""
    if not live_updates.is_poll(request):
        may_see = {f"may_see_{name}": request.access.can(each) for name, each in _SEEN.items()}
        return render(request, "home/index.html", {"home": queries.overview(request), **may_see})
    home = queries.live_overview(request)
    return live_updates.render_update(request, home.version, "home/now.html", {"home": home})


_SEEN = {"connection": Permission.CONNECTION_VIEW, "changes": Permission.AUDIT_VIEW}


@tenant_view(Permission.AUDIT_VIEW)
def changes(request: TenantRequest) -> HttpResponse:
    """Show the newest actions.

    The page loads them separately, because they need more queries for outcomes and names.
    """
    return render(request, "home/changes.html", {"changes": trail.newest_actions(_FEW)})


def landing(request: SignedInRequest) -> HttpResponse:
    """Redirect platform staff to the platform page, and others to their only tenant; else list the tenants."""
    found = [(tenant, role, first_page_of(tenant, role.permissions)) for tenant, role in tenants_of(request.user)]
    if request.user.platform_role:
        return redirect("platform:index")
    if len(found) == 1:
        return redirect(found[0][2])
    return render(request, "home/landing.html", {"tenants": found})


def connection_lost(request: TenantRequest) -> Iterator[Banner]:
    """Yield a banner if the service no longer accepts the tenant's token, or if the token was revoked."""
    access = request.access
    row: Connection | None = getattr(access.tenant, "connection", None)  # read once per page and then cached
    if row is None or row.state not in {Connection.State.BROKEN, Connection.State.REVOKED}:
        return
    state, since = row.state, row.state_at
    broken = state == Connection.State.BROKEN
    page = reverse("connection:index", args=[access.tenant.slug])
    offered = access.can(Permission.CONNECTION_VIEW) and page_path(request) != page
    yield Banner(
        "lost",
        _("Connection to the service lost.") if broken else _("The connection to the service was revoked."),
        _(
            "Lists and search still show loaded data. You cannot make changes or operate doors "
            "until an owner reconnects."
        ),
        icon="plug-off",
        since=since,
        action=_("Reconnect…") if access.can(Permission.CONNECTION_MANAGE) else _("Connection page"),
        action_url=page if offered else "",
        is_link=True,
        rank=Rank.LOST,
    )
