"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.guests import deactivation, follow, frame, naming
from tenants.roles import Permission
from tenants.signals import connected

nav.register(NavEntry("guests", _("Guests"), "qrcode", "guests:index", Permission.GUESTS_VIEW, is_in_phone_bar=True))
marking.register_timer("codes", deactivation.unconfirmed_visits, "cut_due_at")
follow.register()
frame.register()
naming.register()
timer_registry.register(
    "codes_that_must_die",
    deactivation.DUE.check_due,
    every=2.0,
    queue="interactive",
    due_rows=deactivation.DUE.querysets,
)
connected.connect(deactivation.on_connected, dispatch_uid="guests")
