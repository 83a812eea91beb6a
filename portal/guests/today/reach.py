"""What the desk keeps within its own addresses: a receptionist may enter nothing else of the tenant.

The palette, the refreshing of what is shown and the outcome of what the desk asked of the service stand elsewhere for
everybody else; here they are mounted once more, for those who see guests and for what is the desk's alone.
"""

from portal.intents import addresses
from portal.mirror import frame as mirror
from portal.mirror.kinds import Kind
from portal.ui import palette
from tenants.roles import Permission

SHOWN = (Kind.GUESTS, Kind.HISTORIES)


def register() -> None:
    """Called once, when the app is ready."""
    palette.asks_at(Permission.GUESTS_VIEW, "guests:find")
    mirror.shows("guests", Kind.GUESTS, refresh="guests:refresh")
    addresses.mount(Permission.GUESTS_DESK, "guests:request_")
