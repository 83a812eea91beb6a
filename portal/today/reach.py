"""What the desk keeps within its own addresses: a receptionist may enter nothing else of the tenant.

The palette, the banners, the refreshing of what is shown and the outcome of what the desk asked of the service stand
elsewhere for everybody else; here they are mounted once more, for those who see guests and for what is the desk's own.
"""

from portal.core.intents import asking
from portal.core.mirror import frame as mirror
from portal.core.mirror.kinds import Kind
from portal.core.ui import nav
from tenants.roles import Permission

SHOWN = (Kind.GUESTS, Kind.HISTORIES)


def register() -> None:
    """Called once, when the app is ready."""
    nav.also_at("find", Permission.GUESTS_VIEW, "guests:find")
    nav.also_at("banners", Permission.GUESTS_VIEW, "guests:banners")
    mirror.shows("guests", Kind.GUESTS, refresh="guests:refresh")
    asking.mount(Permission.GUESTS_DESK, "guests:request_")
