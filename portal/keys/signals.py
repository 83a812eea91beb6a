"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.keys import alerts, follow, frame, status_reading
from tenants.roles import Permission

nav.register(NavEntry("keys", _("Keys"), "key", "keys:index", Permission.DEVICES_VIEW, contract="key_box"))
alerts.register()
follow.register()
frame.register()
status_reading.register()
