"""The one step of a running import: look at what the database says and do what comes next. Any number of times."""

from datetime import timedelta

from django.db import transaction

from portal.imports import results, settling
from portal.imports.models import Import, ImportPart, ImportRow
from portal.imports.parts import send_next
from portal.imports.states import Halt, JobState, PartState, RowState
from portal.intents.clock import ClockTime, database_now
from portal.intents.handlers import Finding
from portal.intents.models import Intent
from portal.intents.states import FINAL

# When to look again although nobody rang: the engine tells of the end of a request, readings are waited for.
_LOOK_AGAIN = {PartState.OPEN: timedelta(seconds=20), PartState.READING: timedelta(seconds=5)}


def advance(job_id: int) -> None:
    """Settle the request that has ended, send the next one, or finish. The import's row is locked meanwhile."""
    with transaction.atomic():
        job = Import.objects.select_for_update(of=("self",)).filter(pk=job_id, state=JobState.RUNNING).first()
        if job is not None and not _waits(job):
            _step(job)


def _step(job: Import) -> None:
    part = ImportPart.objects.filter(job=job).exclude(state=PartState.CLOSED).first()
    if part is not None and not _settled(job, part):
        _again(job, _LOOK_AGAIN[PartState(part.state)])
        return
    job.refresh_from_db()
    if job.state != JobState.RUNNING:
        return
    if job.stop_asked:
        results.stop_job(job, Halt.PERSON)
    elif send_next(job) is not None:
        _again(job, _LOOK_AGAIN[PartState.OPEN])
    else:
        _finish(job)


def _settled(job: Import, part: ImportPart) -> bool:
    """Whether nothing more is to be learned of the part. Also finds ends that a lost bell or a dead process left."""
    if part.state == PartState.OPEN and part.intent_id is not None:
        intent = Intent.objects.get(pk=part.intent_id)
        if intent.state in FINAL:
            results.settle(job, part, intent)
            part.refresh_from_db()
    if part.state == PartState.READING:
        settling.look(job, part)
    return part.state == PartState.CLOSED


def _waits(job: Import) -> bool:
    """One import of a tenant at a time: what one creates, the next must know of."""
    earlier = Import.objects.filter(state=JobState.RUNNING, started_at__lt=job.started_at)
    if not earlier.exists():
        return False
    _again(job, timedelta(seconds=5))
    return True


def _again(job: Import, wait: timedelta) -> None:
    Import.objects.filter(pk=job.pk, state=JobState.RUNNING).update(due_at=ClockTime() + wait)


def _finish(job: Import) -> None:
    if ImportRow.objects.filter(job=job, state__in=[RowState.PENDING, RowState.SENT]).exists():
        _again(job, timedelta(seconds=5))
        return
    Import.objects.filter(pk=job.pk, state=JobState.RUNNING).update(
        state=JobState.DONE, halt=Halt.NONE, finished_at=ClockTime(), due_at=None, stop_asked=False
    )


def reconcile(intent: Intent) -> Finding:
    """For the engine: what the readings have shown of an uncertain request so far."""
    part = ImportPart.objects.filter(intent_id=intent.pk).first()
    if part is None:
        return Finding(None, {})
    advance(part.job_id)
    part.refresh_from_db()
    rows = ImportRow.objects.filter(part=part)
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
