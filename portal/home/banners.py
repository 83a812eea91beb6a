"""What every page of a tenant says while its connection is lost: what still works, what does not, what to do."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.ui import frame
from portal.core.ui.frame import Banner
from portal.core.ui.watching import path_of_page
from tenants.access import Access
from tenants.models import Connection
from tenants.roles import Permission


def connection_lost(request: HttpRequest) -> Iterator[Banner]:
    """A banner where the service no longer accepts the tenant's token, or the token was revoked."""
    access: Access = request.access  # type: ignore[attr-defined]
    row: Connection | None = getattr(access.tenant, "connection", None)  # read once a page, by whoever is first
    if row is None or row.state not in {Connection.State.BROKEN, Connection.State.REVOKED}:
        return
    state, since = row.state, row.state_at
    broken = state == Connection.State.BROKEN
    page = reverse("connection:index", args=[access.tenant.slug])
    offered = access.can(Permission.CONNECTION_VIEW) and path_of_page(request) != page
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
        action_get=True,
    )


def register() -> None:
    """Called once, when the app is ready."""
    frame.banner(connection_lost)
