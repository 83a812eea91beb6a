"""Register the keys' parts that other apps run or show."""

from functools import partial

from django.utils.translation import gettext_lazy

from portal.base.timers import rounds
from portal.base.ui import command_palette, nav
from portal.base.ui.nav import NavEntry
from portal.domain.alerts import kinds
from portal.domain.intents import handlers
from portal.domain.mirror import events, freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.keys import alerts, follow, status_reading
from portal.keys.frame import find_boxes
from tenants.roles import Permission

nav.register(NavEntry("keys", gettext_lazy("Keys"), "key", "keys:index", Permission.DEVICES_VIEW, contract="key_box"))
kinds.register(alerts.OVERDUE)
kinds.register(alerts.MISPLACED)
handlers.register(
    "operate_keys",
    on_finished=follow.on_command_finished,
    reconcile=follow.find_outcome,
    describe=follow.describe_outcome,
)
command_palette.register(
    "key_boxes",
    gettext_lazy("Key boxes"),
    find_boxes,
    Permission.DEVICES_VIEW,
    partial(freshness.describe_unread, kind=MirrorKind.KEY_BOXES),
)
events.subscribe(MirrorKind.HISTORIES, status_reading.on_histories)
rounds.register(
    "key_boxes",
    rounds.enqueue_steps(status_reading.READ_STALE, status_reading.due_boxes),
    every=60.0,
    queue="sync",
)
