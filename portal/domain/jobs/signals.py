"""Register the app's parts that other apps run or show."""

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.timers.scaled_pauses import scaled_seconds
from portal.domain.intents import handlers
from portal.domain.jobs import advancing, file_executor, results, wakeups
from portal.domain.jobs.bulk_executor import OPERATIONS
from portal.domain.jobs.wakeups import JOB_WAKEUP

timer_registry.register(
    "jobs",
    JOB_WAKEUP.check_due,
    every=scaled_seconds(1),
    queue="bulk",
    due_rows=JOB_WAKEUP.querysets,
)
marking.register("jobs", wakeups.mark_restored)
timer_registry.register(
    "job_files",
    file_executor.delete_expired,
    every=600.0,
    queue="bulk",
    due_rows=lambda: [file_executor.expired_jobs()],
)
for operation in OPERATIONS.values():
    handlers.register(
        operation,
        on_finished=results.on_finished,
        on_progress=results.on_progress,
        reconcile=advancing.reconcile,
    )
