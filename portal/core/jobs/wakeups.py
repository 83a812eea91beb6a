"""Waking a worker for a job's next step: the dry run of a mapped one, the next request of a started one."""

from datetime import timedelta

from django.db.models import Case, F, QuerySet, When

from portal.core.jobs.models import Job
from portal.core.jobs.states import ALIVE, JobState
from portal.core.timers import timer_registry
from portal.core.timers.clock import ClockTime
from portal.core.timers.scaled_pauses import scaled_seconds
from portal.core.timers.task_queue import enqueue_after_commit
from portal.core.timers.timer_registry import TaskWakeup

ADVANCE_TASK = "portal.core.jobs.tasks.advance"
EXPIRES_SECONDS = 120
# A step whose worker died begins again after this; one that goes on does so alone, since its rows decide.
_WAKE_AGAIN_AFTER = timedelta(seconds=8)


def wake_after_commit(job: Job) -> None:
    """Have the job's next step done as soon as what was written is visible."""
    enqueue_after_commit(_task_of(job), job.tenant_id, job.pk, expires=EXPIRES_SECONDS)


def _task_of(job: Job) -> str:
    return "portal.core.jobs.tasks.check" if job.state == JobState.MAPPED else ADVANCE_TASK


def _due_jobs() -> QuerySet[Job]:
    """The jobs that are due and that nobody is at work on."""
    return Job.objects_across_tenants.filter(due_at__lte=ClockTime(), state__in=[JobState.MAPPED, *ALIVE])


JOB_WAKEUP = TaskWakeup(
    rows=_due_jobs,
    task=_task_of,
    # The dry run keeps its own lease.
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
