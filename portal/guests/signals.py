"""Register the app's parts that other apps run or show."""

from functools import partial

from django.utils.translation import gettext_lazy

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.ui import command_palette, frame, nav
from portal.base.ui.nav import NavEntry
from portal.domain.intents import handlers
from portal.domain.mirror import events, freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.guests import deactivation, follow, naming
from portal.guests import frame as page_frame
from tenants.audit_log import names
from tenants.audit_log import queries as audit_log
from tenants.roles import Permission
from tenants.signals import connected

nav.register(
    NavEntry("guests", gettext_lazy("Guests"), "qrcode", "guests:index", Permission.GUESTS_VIEW, is_in_phone_bar=True)
)
command_palette.register(
    "guests",
    gettext_lazy("Guests"),
    page_frame.find_guests,
    Permission.GUESTS_VIEW,
    partial(freshness.describe_unread, kind=MirrorKind.GUESTS),
)
frame.register_banners(page_frame.code_banners, rows=lambda: deactivation.unconfirmed_visits().only("pk"))
names.register_finder(naming.guest_names_of)
audit_log.register_search(naming.entries_about)

handlers.register("create_guest", on_finished=follow.on_created, reconcile=follow.find_created)
handlers.register("update_guest", on_finished=follow.on_updated, reconcile=follow.check_updated)
events.subscribe(MirrorKind.GUESTS, follow.on_guests)

connected.connect(deactivation.on_connected, dispatch_uid="guests")
marking.register_timer("codes", deactivation.unconfirmed_visits, "cut_due_at")
timer_registry.register(
    "codes_that_must_die",
    deactivation.DUE.check_due,
    every=2.0,
    queue="interactive",
    due_rows=deactivation.DUE.querysets,
)
