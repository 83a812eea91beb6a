"""Register the app's parts that other apps run or show."""

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.ui import batching, frame
from portal.domain.mirror import freshness, sync_schedule
from tenants.signals import connected

connected.connect(sync_schedule.on_connected, dispatch_uid="mirror")
marking.register("lists", sync_schedule.reload_after_restore)
timer_registry.register(
    "mirror",
    sync_schedule.check_due,
    every=5.0,
    queue="sync",
    due_rows=sync_schedule.due_rows,
    lag_rows=sync_schedule.overdue_rows,
)
batching.register_query("freshness", freshness.kind_states)
frame.register_fact("freshness", freshness.footer_values)
