"""The carrier of rows by the thousand: one request after another, with a reading where an answer was lost."""

from datetime import timedelta

from portal.core.intents.models import Intent
from portal.core.intents.states import FINAL
from portal.core.jobs import parts, reading, results, settling
from portal.core.jobs.models import Job, Part
from portal.core.jobs.states import Next, PartState

# When to look again although nobody rang: the engine tells of the end of a request, readings are waited for.
_LOOK_AGAIN = {PartState.OPEN: timedelta(seconds=20), PartState.READING: timedelta(seconds=5)}


def wait(job: Job) -> timedelta | None:
    """How long the request under way is waited for before anybody looks again; None: nothing more is to be learned."""
    part = Part.objects.filter(job=job).exclude(state=PartState.CLOSED).first()
    return None if part is None or _settled(job, part) else _LOOK_AGAIN[PartState(part.state)]


def send(job: Job) -> Next:
    """Record the next request of a running job, its row locked by the caller."""
    return parts.send_next(job)


def work(job_id: int) -> None:
    """Read the members that the next request needs."""
    reading.run(job_id)


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
