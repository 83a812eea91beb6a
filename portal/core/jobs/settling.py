"""Finding out by reading what a request has done whose answer was lost, or that failed half-way.

The mirror's own reading of the whole list is used: it costs ceil(members / 1000) calls, at the pace of sync, and serves
everybody who waits. A
member that is not in the list is taken for not created when the request has ended at the service, or when two readings
a minute apart agree: the service works through bulk requests in order.
"""

from datetime import datetime, timedelta
from typing import Any

from portal.core.intents import evidence
from portal.core.jobs import kinds, sightings
from portal.core.jobs.models import Job, Part, Row
from portal.core.jobs.results import MOST_ATTEMPTS, WAITING_AGAIN
from portal.core.jobs.states import Action, PartState, RowState
from portal.core.mirror import schedule
from portal.core.mirror.kinds import Kind
from tenants.models import current_tenant

# From the loss to the beginning of the first reading.
SETTLE = timedelta(seconds=5)


def look(job: Job, part: Part) -> bool:
    """Compare with the last complete list, if it is new enough; wait for one otherwise. True: the part is settled."""
    as_of = schedule.read_since(current_tenant(), Kind.MEMBERS, _needed(part))
    if as_of is None:
        return False
    rows = list(Row.objects.filter(part=part, state=RowState.SENT).order_by("position"))
    found = _found(job, part, rows)
    agrees = part.seen == len(found.present) and evidence.is_proof(part.read_until, as_of)
    part.readings, part.read_until, part.seen = part.readings + 1, as_of, len(found.present)
    part.save(update_fields=["readings", "read_until", "seen"])
    all_there = len(found.present) == len(rows)
    if not (all_there or part.ended or part.action != Action.CREATE or agrees):
        return False
    _record(part, found, as_of)
    part.state = PartState.CLOSED
    part.save(update_fields=["state"])
    return True


def _found(job: Job, part: Part, rows: list[Row]) -> sightings.Found:
    if part.action == Action.CREATE:
        return sightings.created(rows, _known(job, part))
    return sightings.deleted(rows) if part.action == Action.DELETE else sightings.changed(rows, kinds.of(job).same)


def _needed(part: Part) -> datetime:
    """From when on a list must have been read to be of use."""
    if part.read_until is not None:
        return part.read_until + evidence.APART
    lost_at = part.lost_at
    if lost_at is None:  # a part is lost only together with its moment
        raise ValueError("the part was not lost")
    return lost_at + SETTLE


def _known(job: Job, part: Part) -> set[str]:
    """Members that cannot be this part's work: known before it was sent, or already somebody else's result."""
    before = (part.intent.snapshot or {}).get("known", []) if part.intent else []
    others = Row.objects.filter(state=RowState.SUCCEEDED, action=Action.CREATE, part__isnull=False)
    recent = others.filter(job__started_at__gte=job.started_at - timedelta(days=1)) if job.started_at else others
    return {*before, *recent.exclude(member_id="").values_list("member_id", flat=True)}


def _record(part: Part, found: sightings.Found, as_of: datetime) -> None:
    facts = {"at": as_of.isoformat(timespec="seconds"), "readings": part.readings}
    rows: Any = Row.objects.filter(part=part, state=RowState.SENT)
    present = list(rows.filter(pk__in=found.present))
    for row in present:
        row.member_id, row.state = found.present[row.pk], RowState.SUCCEEDED
        row.problems = [["", "found", facts]]
    Row.objects.bulk_update(present, ["member_id", "state", "problems"], batch_size=500)
    rows.filter(pk__in=found.unclear).update(state=RowState.UNCERTAIN, problems=[["", "unclear", facts]])
    if part.action != Action.CREATE:  # a change or a deletion may be repeated: it comes to the same
        again = rows.filter(pk__in=[*found.absent, *found.hidden], attempts__lt=MOST_ATTEMPTS)
        again.update(**WAITING_AGAIN)
    rows.filter(pk__in=found.hidden).update(state=RowState.UNCERTAIN, problems=[["", "hidden", facts]])
    rows.filter(pk__in=found.absent).update(state=RowState.FAILED, problems=[["", "absent", facts]])
