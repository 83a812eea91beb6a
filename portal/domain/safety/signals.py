"""Register the app's parts that other apps run or show."""

from portal.base.timers import timer_registry
from portal.base.ui import frame
from portal.domain.safety import changing
from portal.domain.safety.frame import banners

frame.register_banners(banners, rows=lambda: changing.waiting_changes().only("pk"))
timer_registry.register(
    "safety_changes", changing.DUE.check_due, every=60.0, queue="sync", due_rows=changing.DUE.querysets
)
