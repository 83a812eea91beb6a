"""Notify a worker of a job's next step: the dry run of a mapped job, the next request of a started one."""

from datetime import timedelta

from django.db.models import Case, F, QuerySet, When

from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime
from portal.base.timers.scaled_pauses import scaled_seconds
from portal.base.timers.task_queue import enqueue_after_commit
from portal.base.timers.timer_registry import TaskWakeup
from portal.domain.jobs.models import Job
from portal.domain.jobs.states import ALIVE, JobState

ADVANCE_TASK = "portal.domain.jobs.tasks.advance"
EXPIRES_SECONDS = 120
# If a step's worker ended, the step starts again after this time. If it still runs, the rows' states prevent any double
# work.
_WAKE_AGAIN_AFTER = timedelta(seconds=8)


def wake_after_commit(job: Job) -> None:
    """Enqueue the job's next step after the commit, when its data is visible."""
    enqueue_after_commit(_task_of(job), job.tenant_id, job.pk, expires=EXPIRES_SECONDS)


def _task_of(job: Job) -> str:
    return "portal.domain.jobs.tasks.check" if job.state == JobState.MAPPED else ADVANCE_TASK


def _due_jobs() -> QuerySet[Job]:
    """Return the due jobs that no worker works on."""
    return Job.objects_across_tenants.filter(due_at__lte=ClockTime(), state__in=[JobState.MAPPED, *ALIVE])


JOB_WAKEUP = TaskWakeup(
    rows=_due_jobs,
    task=_task_of,
    # The dry run has its own lease.
    claim_values=lambda: {
        "due_at": Case(When(state__in=ALIVE, then=ClockTime() + _WAKE_AGAIN_AFTER), default=F("due_at"))
    },
    columns=("state",),
    expires=EXPIRES_SECONDS,
)


def register() -> None:
    timer_registry.register(
        "jobs", JOB_WAKEUP.check_due, every=scaled_seconds(1), queue="bulk", due_rows=JOB_WAKEUP.querysets
    )
