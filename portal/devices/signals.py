"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.devices import alerts, follow, frame, holds, status_reading
from tenants.roles import Permission

nav.register(
    NavEntry(
        "devices", _("Doors"), "door", "devices:index", Permission.DEVICES_VIEW, is_in_phone_bar=True, contract="door"
    )
)
alerts.register()
follow.register()
frame.register()
holds.register()
status_reading.register()
