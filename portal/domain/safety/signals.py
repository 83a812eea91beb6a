"""Register the app's parts that other apps run or show."""

from portal.base.timers import timer_registry
from portal.domain.safety import changing, frame

frame.register()
timer_registry.register(
    "safety_changes", changing.DUE.check_due, every=60.0, queue="sync", due_rows=changing.DUE.querysets
)
