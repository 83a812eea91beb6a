"""Let a job go on, or stop it. A worker is notified of the dry run or of the next request."""

from datetime import datetime

from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime
from portal.domain.jobs.models import ALIVE, SENDING, Action, Halt, Job, JobState, Row, RowState

_SENDABLE = (*SENDING, Action.DOUBLE)


def wake_after_commit(job: Job) -> None:
    """Enqueue the job's next step after the commit, when its data is visible."""
    timer_registry.wake("jobs", job.tenant_id, job.pk)


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
    count = running.update(stop_requested=True, halt=Halt.RESTORED, due_at=ClockTime())
    over = {"state": JobState.STOPPED, "halt": Halt.RESTORED, "finished_at": ClockTime()}
    idle = {"due_at": None, "starts_at": None, "stop_requested": False}
    return count + Job.objects.filter(state__in=before).update(**over, **idle)


def stop_job(job: Job, halt: Halt) -> None:
    """Stop a started job before its end. Its unsent rows are marked, and can be sent later."""
    waiting = Row.objects.filter(job=job, state=RowState.PENDING)
    waiting.update(state=RowState.STOPPED, problems=[])
    Job.objects.filter(pk=job.pk, state__in=ALIVE).update(
        state=JobState.STOPPED, halt=halt, finished_at=ClockTime(), due_at=None, stop_requested=False, starts_at=None
    )
