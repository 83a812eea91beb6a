"""Register the doors' parts that other apps run or show."""

from functools import partial

from django.utils.translation import gettext_lazy

from portal.base.restore import marking
from portal.base.timers import rounds, timer_registry
from portal.base.ui import command_palette, frame, nav
from portal.base.ui.nav import NavEntry
from portal.devices import alerts, follow, holds, status_reading
from portal.devices.frame import alarming_doors, door_banners, find_doors
from portal.devices.models import OPEN, Hold
from portal.domain.alerts import kinds
from portal.domain.intents import handlers
from portal.domain.mirror import events, freshness
from portal.domain.mirror.kinds import MirrorKind
from tenants.roles import Permission
from tenants.signals import connected

nav.register(
    NavEntry(
        "devices",
        gettext_lazy("Doors"),
        "door",
        "devices:index",
        Permission.DEVICES_VIEW,
        is_in_phone_bar=True,
        contract="door",
    )
)
kinds.register(alerts.FORCED)
kinds.register(alerts.LEFT_OPEN)
kinds.register(alerts.OFFLINE)
handlers.register(
    "operate_door",
    on_finished=follow.on_command_finished,
    reconcile=follow.find_outcome,
    describe=follow.describe_outcome,
)
command_palette.register(
    "doors",
    gettext_lazy("Doors"),
    find_doors,
    Permission.DEVICES_VIEW,
    partial(freshness.describe_unread, kind=MirrorKind.PASS_CONTROLLERS),
)
frame.register_banners(door_banners, rows=lambda: alarming_doors().only("pk"))
marking.register_timer("holds", lambda: Hold.objects.filter(state__in=OPEN))
timer_registry.register("holds", holds.DUE.check_due, every=1.0, queue="doors", due_rows=holds.DUE.querysets)
connected.connect(holds.on_connected, dispatch_uid="holds")
events.subscribe(MirrorKind.HISTORIES, status_reading.on_histories)
rounds.register(
    "doors",
    rounds.enqueue_steps(status_reading.READ_STALE, status_reading.due_doors),
    every=60.0,
    queue="sync",
)
timer_registry.register(
    "doors_soon",
    status_reading.SOON_DUE.check_due,
    every=1.0,
    queue="interactive",
    due_rows=status_reading.SOON_DUE.querysets,
)
