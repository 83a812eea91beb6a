"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy, ngettext_lazy

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.domain.intents import handlers
from portal.domain.jobs import file_executor, results, running, tasks
from portal.domain.jobs.bulk_executor import OPERATIONS
from tenants.sentences import register_sentences

tasks.JOBS.register()
marking.register("jobs", running.mark_restored)
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
        reconcile=tasks.reconcile,
    )


register_sentences(
    {
        "job.part": gettext_lazy("%(job)s: %(what)s (request %(part)d)"),
        "job.creates": ngettext_lazy("create %(n)d member", "create %(n)d members", "n"),
        "job.deletes": ngettext_lazy("delete %(n)d member", "delete %(n)d members", "n"),
        "job.changes": ngettext_lazy("change %(n)d member", "change %(n)d members", "n"),
    }
)
