"""Register the app's parts that other apps run or show."""

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.domain.intents import due_intents

marking.register("requests", due_intents.mark_restored)
timer_registry.register(
    "sweep",
    due_intents.process_due,
    every=due_intents.CHECK_SECONDS,
    queue="doors",
    due_rows=due_intents.rows_to_process,
    lag_rows=due_intents.lagging_rows,
)
