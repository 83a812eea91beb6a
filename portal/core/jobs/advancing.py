"""The one step of a started job: look at what the database says and do what comes next. Any number of times."""

from datetime import timedelta

from django.db import transaction

from portal.core.intents.handlers import Finding
from portal.core.intents.models import Intent
from portal.core.intents.record import Asker
from portal.core.intents.states import FINAL
from portal.core.jobs import acts, kinds, reading, results, settling
from portal.core.jobs.models import Job, Part, Row
from portal.core.jobs.parts import Next, send_next
from portal.core.jobs.states import ALIVE, Halt, JobState, PartState, RowState
from portal.core.timers.clock import ClockTime, database_now
from tenants.standing import holds_permission

# When to look again although nobody rang: the engine tells of the end of a request, readings are waited for.
_LOOK_AGAIN = {PartState.OPEN: timedelta(seconds=20), PartState.READING: timedelta(seconds=5)}
_SOON = timedelta(seconds=5)


def advance(job_id: int) -> None:
    """Settle the request that has ended, send the next one, read what it needs, or finish. The job's row is locked
    meanwhile, but not while members are read.
    """
    with transaction.atomic():
        job = Job.objects.select_for_update(of=("self",)).filter(pk=job_id, state__in=ALIVE).first()
        reads = job is not None and _begun(job) and not _waits(job) and _step(job)
    if reads:
        reading.run(job_id)


def _begun(job: Job) -> bool:
    """Whether the job runs; one whose moment has come begins, if who asked for it still may."""
    if job.state == JobState.RUNNING:
        return True
    if job.stop_asked:
        results.stop_job(job, Halt.PERSON)
        return False
    if job.starts_at is not None and job.starts_at > database_now():
        Job.objects.filter(pk=job.pk).update(due_at=job.starts_at)
        return False
    if not _permitted(job):
        results.stop_job(job, Halt.RIGHTS)
        return False
    Job.objects.filter(pk=job.pk, state=JobState.WAITING).update(state=JobState.RUNNING, started_at=ClockTime())
    job.refresh_from_db()
    acts.record(Asker(job.tenant, job.by, job.support_session), job, "begun", {})
    return True


def _permitted(job: Job) -> bool:
    return Job.objects.filter(holds_permission(job.permission), pk=job.pk).exists()


def _step(job: Job) -> bool:
    """Do what comes next; True when members have to be read before anything can be sent."""
    part = Part.objects.filter(job=job).exclude(state=PartState.CLOSED).first()
    if part is not None and not _settled(job, part):
        _again(job, _LOOK_AGAIN[PartState(part.state)])
        return False
    job.refresh_from_db()
    if job.state != JobState.RUNNING:
        return False
    if job.stop_asked:
        results.stop_job(job, Halt.PERSON)
        return False
    found = send_next(job)
    if found == Next.READ:
        if not _permitted(job):
            results.stop_job(job, Halt.RIGHTS)
            return False
        _again(job, reading.LEASE)
        return True
    if found == Next.NOTHING:
        _finish(job)
    elif found == Next.LATER and job.blocked_until is not None and job.blocked_until > database_now():
        Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(due_at=job.blocked_until)
    else:
        _again(job, _LOOK_AGAIN[PartState.OPEN] if found == Next.SENT else _SOON)
    return False


def _settled(job: Job, part: Part) -> bool:
    """Whether nothing more is to be learned of the part. Also finds ends that a lost bell or a dead process left."""
    if part.state == PartState.OPEN and part.intent_id is not None:
        intent = Intent.objects.get(pk=part.intent_id)
        if intent.state in FINAL:
            results.settle(job, part, intent)
            part.refresh_from_db()
    if part.state == PartState.READING:
        settling.look(job, part)
    return part.state == PartState.CLOSED


def _waits(job: Job) -> bool:
    """Of the jobs that create members one at a time: what one creates, the next must know of. And what undoes a job
    waits until that has come to its end.
    """
    undoes = job.undo_of_id is not None and Job.objects.filter(pk=job.undo_of_id, state=JobState.RUNNING).exists()
    if not undoes and not ahead(job):
        return False
    _again(job, _SOON)
    return True


def ahead(job: Job) -> bool:
    """Whether a job that was started before has to come to its end first."""
    family = kinds.of(job).family
    if family != kinds.ONE_AT_A_TIME or job.started_at is None:
        return False
    earlier = Job.objects.filter(kind__in=kinds.names(family), state=JobState.RUNNING, started_at__lt=job.started_at)
    return earlier.exists()


def _again(job: Job, wait: timedelta) -> None:
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(due_at=ClockTime() + wait)


def _finish(job: Job) -> None:
    if Row.objects.filter(job=job, state__in=[RowState.PENDING, RowState.SENT]).exists():
        _again(job, _SOON)
        return
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(
        state=JobState.DONE, halt=Halt.NONE, finished_at=ClockTime(), due_at=None, stop_asked=False
    )


def reconcile(intent: Intent) -> Finding:
    """For the engine: what the readings have shown of an uncertain request so far."""
    part = Part.objects.filter(intent_id=intent.pk).first()
    if part is None:
        return Finding(None, {})
    advance(part.job_id)
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
        return Finding(None, evidence, again_at=database_now() + timedelta(seconds=10))
    if counts[RowState.UNCERTAIN]:
        return Finding(None, evidence)
    return Finding(counts[RowState.SUCCEEDED] > 0, evidence)
