"""Whether an item waits for a decision, and what came of its withdrawal.

Both are worked out in the statement that writes, from what the row holds then: a reviewer who decides at the same
moment and a worker who looks at the right never overwrite each other.
"""

from datetime import timedelta
from typing import Any

from django.db.models import BooleanField, Case, F, Q, QuerySet, Value, When

from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import ALIVE, JobState, RowState
from portal.reviews.models import Applied, Decision, Item, Review, Standing
from portal.reviews.rights import LEFT

#: Withdrawals that may be asked for: not yet, or once more.
TO_APPLY = (Applied.NOT_YET, Applied.REFUSED, Applied.STOPPED, Applied.KEPT)
_SETTLED = (Applied.SENT, Applied.WITHDRAWN, Applied.UNCERTAIN)
_AT_ONCE = 1000
_SOON, _LATER = timedelta(seconds=3), timedelta(seconds=30)


def standing_of(now: str, start: str) -> Standing:
    """Return what a right is now beside what it was at the start."""
    if now == LEFT:
        return Standing.LEFT
    if not now:
        return Standing.NONE
    return Standing.SAME if now == start else Standing.CHANGED


def note(items: QuerySet[Item], now: str) -> int:
    """Write down what the right of these items is now. Returns how many there were."""
    gone = {LEFT: Standing.LEFT, "": Standing.NONE}.get(now)
    standing: Any = (
        Value(str(gone))
        if gone is not None
        else Case(When(digest=now, then=Value(str(Standing.SAME))), default=Value(str(Standing.CHANGED)))
    )
    return items.update(now_digest=now, standing=standing, is_open=_openness(Value(now), gone is None))


def reopen(items: QuerySet[Item]) -> int:
    """Work out anew whether these items wait for a decision."""
    return items.update(is_open=_openness(F("now_digest"), None))


def _openness(now: Any, holds: bool | None) -> Any:
    """Whether a right waits for a decision: there is none, or it is about another right than the one there is now."""
    if holds is False:
        return Value(False)
    skipped = Q(applied=Applied.CHANGED)
    undecided = Q(decision=Decision.NONE) | skipped
    decided = ~Q(applied__in=_SETTLED) & ~Q(decided_digest=now)
    there = ~Q(now_digest__in=["", LEFT]) if holds is None else Q()
    return Case(
        When(there & (undecided | decided), then=Value(True)), default=Value(False), output_field=BooleanField()
    )  # fmt: skip


def settle(review: Review) -> timedelta | None:
    """Bring items whose withdrawal is under way up to what came of it. Returns when to look again; None: never."""
    waiting = Item.objects.filter(review=review, applied__in=[Applied.SENT, Applied.UNCERTAIN])
    jobs = list(waiting.order_by().values_list("job_id", flat=True).distinct())
    for job_id in jobs:
        if job_id is None:  # discarded before it began
            _discarded(waiting.filter(job=None))
        else:
            _settle(waiting.filter(job_id=job_id), job_id)
    if not jobs or not waiting.exists():
        return None
    runs = Job.objects.filter(pk__in=[each for each in jobs if each], state__in=ALIVE).exists()
    return _SOON if runs else _LATER


def _discarded(items: QuerySet[Item]) -> None:
    pks = list(items.values_list("pk", flat=True))
    Item.objects.filter(pk__in=pks).update(applied=Applied.NOT_YET)
    reopen(Item.objects.filter(pk__in=pks))


def _settle(items: QuerySet[Item], job_id: int) -> None:
    """Take over what became of a job's rows, some at once; one that another job sends again is followed there."""
    place, named = "", items.order_by("member_id").values_list("member_id", "pk")
    while batch := dict(named.filter(member_id__gt=place)[:_AT_ONCE]):
        rows = Row.objects.filter(job_id=job_id, member_id__in=batch).select_related("job")
        found = {row.member_id: row for row in rows}
        for member_id, pk in batch.items():
            _one(pk, found.get(member_id))
        place = max(batch)


def _one(pk: int, row: Row | None) -> None:
    item = Item.objects.filter(pk=pk)
    if row is None:
        item.update(applied=Applied.NOT_YET, job=None)
    elif row.retried_in_id is not None and row.retried_in_id != row.job_id and row.state != RowState.SUCCEEDED:
        item.update(job=row.retried_in_id, applied=Applied.SENT)
        return
    else:
        came = outcome(row)
        if came == Applied.SENT:
            return
        item.update(applied=came)
    reopen(item)


def outcome(row: Row) -> Applied:
    """Return what came of a row of an edit."""
    words = {problem[1] for problem in row.problems}
    over = row.job.state not in (*ALIVE, JobState.CHECKED)
    match row.state:
        case RowState.SUCCEEDED:
            return Applied.WITHDRAWN
        case RowState.KEPT:
            return Applied.KEPT
        case RowState.UNCERTAIN:
            return Applied.UNCERTAIN
        case RowState.FAILED:
            return Applied.CHANGED if words & {"meanwhile", "gone", "unknown"} else Applied.REFUSED
        case RowState.STOPPED:
            return Applied.STOPPED
    return Applied.STOPPED if over else Applied.SENT
