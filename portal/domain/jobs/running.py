"""Let a job go on, or stop it. A worker is notified of the dry run or of the next request."""

from datetime import datetime, timedelta

from django.db.models import Case, F, QuerySet, When

from portal.base.timers.celery_app import enqueue_after_commit
from portal.base.timers.clock import ClockTime
from portal.base.timers.timer_registry import TaskWakeup
from portal.domain.jobs.models import ALIVE, SENDING, Action, Halt, Job, JobState, Row, RowState

_SENDABLE = (*SENDING, Action.DOUBLE)
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


def mark_restored(found_at: datetime) -> int:
    """Stop every job: its progress since the backup is not known.

    Rows that waited, were stopped or were only previewed may have been sent, so a person has to decide about them.
    Requests in progress are settled by reading.
    """
    before = (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED, JobState.WAITING)
    rows = Row.objects.filter(job__state__in=[*before, JobState.RUNNING, JobState.STOPPED], action__in=_SENDABLE)
    rows.filter(state__in=[RowState.CHECKED, RowState.PENDING, RowState.STOPPED], retried_in=None).update(
        state=RowState.UNCERTAIN, problems=[["", "restored", {}]]
    )
    running = Job.objects.filter(state=JobState.RUNNING)
    count = running.update(stop_asked=True, halt=Halt.RESTORED, due_at=ClockTime())
    over = {"state": JobState.STOPPED, "halt": Halt.RESTORED, "finished_at": ClockTime()}
    idle = {"due_at": None, "starts_at": None, "stop_asked": False}
    return count + Job.objects.filter(state__in=before).update(**over, **idle)


def stop_job(job: Job, halt: Halt) -> None:
    """Stop a started job before its end. Its unsent rows are marked, and can be sent later."""
    waiting = Row.objects.filter(job=job, state=RowState.PENDING)
    waiting.update(state=RowState.STOPPED, problems=[])
    Job.objects.filter(pk=job.pk, state__in=ALIVE).update(
        state=JobState.STOPPED, halt=halt, finished_at=ClockTime(), due_at=None, stop_asked=False, starts_at=None
    )
