"""Celery tasks of jobs: the dry run, and the next step of a started job.

Tasks get IDs only; the job's row decides whether anything is done. A step can be called any number of times: it reads
the job's state and does what is next.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Case, F, QuerySet, When

from portal.base.timers.clock import ClockTime, database_now, scaled_seconds
from portal.base.timers.timer_registry import Process
from portal.domain.intents.handlers import Finding
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, kinds, queries, running
from portal.domain.jobs.models import ALIVE, Halt, Job, JobState, NextStep, Part, PartState, Row, RowState
from tenants.permission_conditions import holds_permission

_SOON, _LATER = timedelta(seconds=5), timedelta(seconds=20)
# After this time, another worker replaces one that ended during its work.
_LEASE = timedelta(seconds=45)


def advance_job(job_id: int) -> None:
    """Settle what has ended, send what is next, or finish.

    The job's row is locked, except while the executor works: it reads members, submits single rows or writes a file.
    """
    with transaction.atomic():
        job = Job.objects.select_for_update(of=("self",)).filter(pk=job_id, state__in=ALIVE).first()
        works = job is not None and _begin_if_due(job) and not _must_wait(job) and _step(job)
    if job is not None and works:
        kinds.kind_of(job).executor.work(job_id)


def _begin_if_due(job: Job) -> bool:
    """Return whether the job runs. A due job starts here if its requester still has the permission."""
    if job.state == JobState.RUNNING:
        return True
    if job.stop_requested:
        running.stop_job(job, Halt(job.halt) or Halt.PERSON)
        return False
    if job.starts_at is not None and job.starts_at > database_now():
        Job.objects.filter(pk=job.pk).update(due_at=job.starts_at)
        return False
    if not _is_permitted(job):
        running.stop_job(job, Halt.RIGHTS)
        return False
    Job.objects.filter(pk=job.pk, state=JobState.WAITING).update(state=JobState.RUNNING, started_at=ClockTime())
    job.refresh_from_db()
    actions.record_action(Requester(job.tenant, job.by, job.support_session), job, "begun", {})
    return True


def _is_permitted(job: Job) -> bool:
    return Job.objects.filter(holds_permission(job.permission), pk=job.pk).exists()


def _step(job: Job) -> bool:
    """Do the next step. Return True when it is work that must run without the lock on the job."""
    carrier = kinds.kind_of(job).executor
    if (wait := carrier.wait(job)) is not None:
        _reschedule(job, wait)
        return False
    job.refresh_from_db()
    if job.state != JobState.RUNNING:
        return False
    if job.stop_requested:
        running.stop_job(job, Halt(job.halt) or Halt.PERSON)
        return False
    next_step = carrier.send(job)
    if next_step == NextStep.WORK:
        if not _is_permitted(job):
            running.stop_job(job, Halt.RIGHTS)
            return False
        _reschedule(job, _LEASE)
        return True
    if next_step == NextStep.NOTHING:
        _finish(job)
    elif next_step == NextStep.LATER and job.blocked_until is not None and job.blocked_until > database_now():
        Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(due_at=job.blocked_until)
    else:
        _reschedule(job, _LATER if next_step == NextStep.SENT else _SOON)
    return False


def _must_wait(job: Job) -> bool:
    """Return whether the job waits for another one, and reschedule it then.

    A job that creates members waits for earlier ones, because it must know what they create. A job that undoes another
    one waits for the end of that one.
    """
    undoes = job.undo_of_id is not None and Job.objects.filter(pk=job.undo_of_id, state=JobState.RUNNING).exists()
    if not undoes and not queries.has_earlier_job(job):
        return False
    _reschedule(job, _SOON)
    return True


def _reschedule(job: Job, wait: timedelta) -> None:
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(due_at=ClockTime() + wait)


def _finish(job: Job) -> None:
    if Row.objects.filter(job=job, state__in=[RowState.PENDING, RowState.SENT]).exists():
        _reschedule(job, _SOON)
        return
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(
        state=JobState.DONE, halt=Halt.NONE, finished_at=ClockTime(), due_at=None, stop_requested=False
    )


def reconcile(intent: Intent) -> Finding:
    """Return what readings have shown so far about an uncertain request: the `reconcile` handler of bulk requests."""
    part = Part.objects.filter(intent_id=intent.pk).first()
    if part is None:
        return Finding(None, {})
    advance_job(part.job_id)
    part.refresh_from_db()
    rows = Row.objects.filter(part=part)
    counts = {str(state): rows.filter(state=state).count() for state in (RowState.SUCCEEDED, RowState.UNCERTAIN)}
    evidence = {
        "readings": part.readings,
        "read_until": part.read_until.isoformat(timespec="seconds") if part.read_until else "",
        "found": counts[RowState.SUCCEEDED],
        "unclear": counts[RowState.UNCERTAIN],
    }
    if part.state != PartState.CLOSED:
        return Finding(None, evidence, retry_at=database_now() + timedelta(seconds=10))
    if counts[RowState.UNCERTAIN]:
        return Finding(None, evidence)
    return Finding(counts[RowState.SUCCEEDED] > 0, evidence)


def run_job(job_id: int) -> None:
    """Check the rows of a job that was mapped, or run the next step of one that is under way."""
    job = Job.objects.filter(pk=job_id).first()
    if job is not None and job.state == JobState.MAPPED:
        kinds.kind_of(job).check(job_id)
    else:
        advance_job(job_id)


def _due_jobs() -> QuerySet[Job]:
    """Return the due jobs that no worker works on."""
    return Job.objects_across_tenants.filter(due_at__lte=ClockTime(), state__in=[JobState.MAPPED, *ALIVE])


# If a step's worker ended, the step starts again after this time. If it still runs, the rows' states prevent any double
# work.
_WAKE_AGAIN_AFTER = timedelta(seconds=8)
JOBS = Process(
    name="jobs",
    rows=_due_jobs,
    step=run_job,
    queue="bulk",
    every=scaled_seconds(1),
    seconds=280,
    # The dry run has its own lease.
    claim_values=lambda: {
        "due_at": Case(When(state__in=ALIVE, then=ClockTime() + _WAKE_AGAIN_AFTER), default=F("due_at"))
    },
    expires=120,
)
