"""Register the app's parts that other apps run or show."""

from portal.base.restore import marking
from portal.domain.intents import handlers
from portal.domain.jobs import advancing, file_executor, results, wakeups
from portal.domain.jobs.bulk_executor import OPERATIONS

wakeups.register()
marking.register("jobs", wakeups.mark_restored)
file_executor.register()
for operation in OPERATIONS.values():
    handlers.register(
        operation,
        on_finished=results.on_finished,
        on_progress=results.on_progress,
        reconcile=advancing.reconcile,
    )
