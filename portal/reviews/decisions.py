"""Save decisions, compute which items wait for one, and follow the withdrawals.

Each decision is about the right that the reviewer saw, has its own step, and never overwrites another. A press names
the item's version and the shown right. It is refused if another person has decided since then, or if the right has
changed; the page then shows the present state. If the same press arrives twice, the second one finds the saved step and
gets the same answer.

Whether an item waits, and the result of its withdrawal, are computed in the UPDATE statement from the row's present
values. So a reviewer who decides and a worker who checks the right at the same time never overwrite each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import BooleanField, Case, Exists, F, Func, OuterRef, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from portal.base.timers.clock import database_now
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.jobs.models import ALIVE, NOT_APPLIED, Job, JobState, Row, RowState
from portal.reviews import assigning, rights
from portal.reviews.models import Applied, Decision, Item, Review, RightStatus, State, Step, StepAction
from portal.reviews.rights import LEFT, UNREAD
from tenants import audit
from tenants.sentences import Sentence, coded_sentence

# Withdrawals that can be started, for the first time or again.
TO_APPLY = (Applied.NOT_YET, Applied.REFUSED, Applied.STOPPED, Applied.KEPT)
# Items in these states can be decided: no withdrawal is in progress, or the member has the right again after one.
DECIDABLE = (*TO_APPLY, Applied.CHANGED, Applied.WITHDRAWN)
_UNDER_WAY = (Applied.SENT, Applied.UNCERTAIN)
# States that still depend on the job: a stopped job can continue, and refused rows can be retried.
_WITH_JOB = (*_UNDER_WAY, Applied.STOPPED, Applied.REFUSED)
_BATCH_SIZE = 1000
_SOON, _LATER = timedelta(seconds=3), timedelta(seconds=30)
MAX_ITEMS = 10_000
_DECISION_OF = {
    StepAction.CONFIRM: Decision.CONFIRM,
    StepAction.WITHDRAW: Decision.WITHDRAW,
    StepAction.UNDO: Decision.NONE,
}
_AUDIT_CODES = {
    StepAction.CONFIRM: "review.confirmed",
    StepAction.WITHDRAW: "review.marked",
    StepAction.UNDO: "review.undone",
}
_AUDIT_CODES_MANY = {StepAction.CONFIRM: "review.confirmed_many", StepAction.WITHDRAW: "review.marked_many"}


def lock_review(review: Review) -> Review:
    """Return the review with its row locked, so that it is not finished or cancelled at the same time.

    Raises NotSubmitted if it has ended. Call it within a transaction.
    """
    found = Review.objects.select_for_update(of=("self",), no_key=True).get(pk=review.pk)
    if found.state != State.RUNNING:
        raise NotSubmitted(_("Not saved: this review has ended. See its report for the result."))
    return found


def record(by: Requester, review: Review, action: str, summary: Sentence, *, before: Any = None, **after: Any) -> None:
    """Record an action on a review in the audit log. Call it within the action's transaction."""
    target = f"review:{review.pk}"
    audit.record(**by.audit_author, action=action, target=target, summary=summary, before=before, after=after or None)


def state_of_right(now: str, start: str) -> RightStatus:
    """Return the status of a right compared with the start of the review."""
    if now == LEFT:
        return RightStatus.LEFT
    if now == UNREAD:
        return RightStatus.UNREAD
    if not now:
        return RightStatus.NONE
    return RightStatus.SAME if now == start else RightStatus.CHANGED


def save_current_right(items: QuerySet[Item], now: str) -> None:
    """Save the present right of these items."""
    same, other = Value(str(state_of_right(now, now))), Value(str(state_of_right(now, "")))
    right_status = Case(When(digest=now, then=same), default=other)
    items.update(
        now_digest=now, right_status=right_status, is_open=_is_open_expression(Value(now), now not in ("", LEFT))
    )


def update_open(items: QuerySet[Item]) -> None:
    """Recompute whether these items wait for a decision."""
    items.update(is_open=_is_open_expression(F("now_digest"), None))


def _is_open_expression(now: Any, holds: bool | None) -> Any:
    """Return the expression for "waits for a decision".

    An item waits if it has no decision, or if its decision is about another right than the present one. It also waits
    if a person decided who may not, or if the member has the right again after a withdrawal. `holds`: whether there is
    a right, if known.
    """
    if holds is False:
        return Value(False)
    undecided = Q(decision=Decision.NONE) | Q(applied__in=[Applied.CHANGED, Applied.WITHDRAWN])
    barred = Func(
        F("barred"), Cast(F("decided_by_id"), TextField()), function="jsonb_exists", output_field=BooleanField()
    )
    decided = ~Q(applied__in=_UNDER_WAY) & (~Q(decided_digest=now) | Q(barred))
    exists = ~Q(now_digest__in=["", LEFT]) if holds is None else Q()
    return Case(
        When(exists & (undecided | decided), then=Value(True)), default=Value(False), output_field=BooleanField()
    )  # fmt: skip


def update_withdrawals(review: Review) -> timedelta | None:
    """Update items whose withdrawal is in progress. Return the pause until the next check, or None."""
    followed = Item.objects.filter(review=review, applied__in=_WITH_JOB)
    jobs = list(followed.order_by().values_list("job_id", flat=True).distinct())
    for job_id in jobs:
        if job_id is None:  # the job was deleted before it began
            _reset_discarded(followed.filter(job=None))
        else:
            _update_from_job(followed.filter(job_id=job_id), job_id)
    waiting = Item.objects.filter(review=review, applied__in=_UNDER_WAY)
    if not jobs or not waiting.exists():
        return None
    runs = Job.objects.filter(pk__in=[each for each in jobs if each], state__in=ALIVE).exists()
    return _SOON if runs else _LATER


def _reset_discarded(items: QuerySet[Item]) -> None:
    pks = list(items.values_list("pk", flat=True))
    Item.objects.filter(pk__in=pks).update(applied=Applied.NOT_YET)
    update_open(Item.objects.filter(pk__in=pks))


def _update_from_job(items: QuerySet[Item], job_id: int) -> None:
    """Update items from a job's rows, in batches. Rows that another job has taken over are followed there."""
    place, named = "", items.order_by("member_id")
    while batch := list(named.filter(member_id__gt=place)[:_BATCH_SIZE]):
        rows = Row.objects.filter(job_id=job_id, member_id__in=[item.member_id for item in batch]).select_related("job")
        found = {row.member_id: row for row in rows}
        now = rights.current_rights({(item.member_id, item.area_id) for item in batch})
        for item in batch:
            _update_item(item, found.get(item.member_id), now[item.member_id, item.area_id])
        place = batch[-1].member_id


def _update_item(item: Item, row: Row | None, now: str) -> None:
    """Update an item from its row. `now`: the present right of the member to the area."""
    values: dict[str, Any] = {"applied": Applied.NOT_YET, "job": None}
    if row is not None:
        is_elsewhere = row.retried_in_id not in (None, row.job_id) and row.state != RowState.SUCCEEDED
        values = {"applied": Applied.SENT, "job": row.retried_in_id} if is_elsewhere else {"applied": applied_of(row)}
    if values["applied"] != item.applied or "job" in values:
        same = Item.objects.filter(pk=item.pk)
        same.update(**values)
        save_current_right(same, now)


def stop_withdrawals(items: QuerySet[Item]) -> None:
    """Stop the withdrawals of these items that are not applied yet.

    Otherwise a job that continues or is retried would withdraw rights that were decided differently since then.
    """
    sent = items.filter(job__isnull=False)
    jobs = list(sent.order_by().values_list("job_id", flat=True).distinct())
    if jobs:
        same_row = sent.filter(job=OuterRef("job"), member_id=OuterRef("member_id"))
        rows = Row.objects.filter(Exists(same_row), job__in=jobs, state__in=NOT_APPLIED, retried_in=None)
        rows.update(retried_in=F("job"))


def items_under_way(items: Sequence[Item]) -> set[int]:
    """Return the IDs of items with a withdrawal in progress, including jobs that have continued since the last check.

    Their rows are locked, so that no request is sent before the transaction ends.
    """
    items_by_row = {(item.job_id, item.member_id): item for item in items if item.job_id is not None}
    locked = Row.objects.select_for_update(of=("self",), no_key=True).select_related("job")
    rows = locked.filter(
        job__in={job for job, _member in items_by_row}, member_id__in={member for _job, member in items_by_row}
    )
    sent = {
        items_by_row[row.job_id, row.member_id].pk for row in rows.order_by("pk") if _is_being_sent(row, items_by_row)
    }
    return sent | {item.pk for item in items if item.applied not in DECIDABLE}


def _is_being_sent(row: Row, items_by_row: Mapping[tuple[int, str], Item]) -> bool:
    return (row.job_id, row.member_id) in items_by_row and applied_of(row) in _UNDER_WAY


def applied_of(row: Row) -> Applied:
    """Return the result of a row of an edit."""
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


def to_withdraw(review: Review) -> QuerySet[Item]:
    """Return the items with a withdrawal to start: decided, not in progress, and still about the present right."""
    decided = Item.objects.filter(review=review, decision=Decision.WITHDRAW, applied__in=TO_APPLY)
    return decided.filter(is_open=False, decided_digest=F("now_digest"))


class DecisionResult(StrEnum):
    """The result of a press."""

    SAVED = "saved"
    EARLIER = "earlier"  # this person already did so, with another note
    ELSEWHERE = "elsewhere"  # another person has decided or delegated it
    CHANGED = "changed"  # the right is not the one that was shown
    GONE = "gone"  # the right or the member no longer exists
    UNREAD = "unread"  # the right is not loaded
    UNDER_WAY = "under_way"  # its withdrawal is in progress or done
    BARRED = "barred"  # this person gave the right, or it is their own


@dataclass(frozen=True)
class DecisionPress:
    """A click on an item's button, with the version and the right that the page showed."""

    action: StepAction
    version: int
    shown_digest: str
    note: str = ""


@dataclass(frozen=True)
class ManyResult:
    """How many items were decided, skipped because they changed, and skipped because the person may not decide."""

    saved: int
    skipped: int
    barred: int


def decide(*, item: Item, press: DecisionPress, by: Requester) -> DecisionResult:
    """Save one decision, or return why not.

    The item must be the person's. Raises NotSubmitted if the review has ended.
    """
    with transaction.atomic():
        review = lock_review(item.review)
        row = Item.objects.select_for_update(of=("self",), no_key=True).get(pk=item.pk)
        if (before := _earlier_step(row, press, by)) is not None:
            return DecisionResult.SAVED if before.note == press.note else DecisionResult.EARLIER
        if row.version != press.version or row.reviewer_id != by.user.pk:
            return DecisionResult.ELSEWHERE
        if items_under_way([row]):
            return DecisionResult.UNDER_WAY
        if not assigning.decidable(review, [row], by.user):
            return DecisionResult.BARRED
        now = _update_current_right(row)
        if (refused := _refusal(row, press, now)) is not None:
            return refused
        _write([row], press.action, by, press.note, digest=now)
        summary = coded_sentence(
            _AUDIT_CODES[press.action], name=row.name, area=review.area_names.get(row.area_id, row.area_id)
        )
        details = {"member": row.member_id, "area": row.area_id, "right": now, "note": press.note}
        record(by, review, _AUDIT_CODES[press.action], summary, **details)
    return DecisionResult.SAVED


def _refusal(row: Item, press: DecisionPress, now: str) -> DecisionResult | None:
    if press.action == StepAction.UNDO:
        return DecisionResult.UNDER_WAY if row.applied == Applied.WITHDRAWN else None
    if now in ("", LEFT):
        return DecisionResult.GONE
    if now == UNREAD:
        return DecisionResult.UNREAD
    return DecisionResult.CHANGED if now != press.shown_digest else None


def decide_many(*, review: Review, items: QuerySet[Item], action: StepAction, by: Requester) -> ManyResult:
    """Decide all waiting items whose right is the same as at the start. The others are skipped.

    Changed rights are decided one by one, where the new right is shown. Raises NotSubmitted if the review has ended.
    """
    saved = left = 0
    with transaction.atomic():
        review = lock_review(review)
        own = items.filter(review=review, reviewer=by.user, is_open=True)
        barred = own.filter(is_barred=True).count()
        pks = list(own.filter(is_barred=False).order_by("pk").values_list("pk", flat=True)[:MAX_ITEMS])
        for batch in _lock_batches(pks):
            waiting = [row for row in batch if row.reviewer_id == by.user.pk and row.is_open]
            ready = assigning.decidable(review, waiting, by.user)
            barred += len(waiting) - len(ready)
            now = rights.current_rights({(row.member_id, row.area_id) for row in ready})
            sent = items_under_way(ready)
            same = [row for row in ready if now[row.member_id, row.area_id] == row.digest and row.pk not in sent]
            for row in ready:
                if now[row.member_id, row.area_id] != row.now_digest:
                    save_current_right(Item.objects.filter(pk=row.pk), now[row.member_id, row.area_id])
            _write(same, action, by, "")
            saved, left = saved + len(same), left + len(batch) - len(waiting) + len(ready) - len(same)
        if saved:
            summary = coded_sentence(_AUDIT_CODES_MANY[action], title=review.title, n=saved)
            record(by, review, _AUDIT_CODES_MANY[action], summary, items=saved, left=left, barred=barred)
    return ManyResult(saved, left, barred)


def _lock_batches(pks: Sequence[int]) -> Iterator[list[Item]]:
    for at in range(0, len(pks), _BATCH_SIZE):
        rows = Item.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=pks[at : at + _BATCH_SIZE])
        yield list(rows.order_by("pk"))


def _earlier_step(row: Item, press: DecisionPress, by: Requester) -> Step | None:
    """Return the step of this press if it was already saved: the answer was lost, or the person went back."""
    if row.version != press.version + 1:
        return None
    return Step.objects.filter(item=row, number=row.version, action=press.action, by=by.user).first()


def _update_current_right(row: Item) -> str:
    """Return the present right, and save it with the item."""
    key = (row.member_id, row.area_id)
    now = rights.current_rights([key])[key]
    if now != row.now_digest:
        save_current_right(Item.objects.filter(pk=row.pk), now)
    return now


def _write(rows: Sequence[Item], action: StepAction, by: Requester, note: str, *, digest: str | None = None) -> None:
    """Save a step and the decision for each row. `digest`: the right that was decided; default: that of the start."""
    if not rows:
        return
    now = database_now()
    Step.objects.bulk_create([_step(row, action, by, now, note, digest) for row in rows], batch_size=500)
    undone = action == StepAction.UNDO
    items = Item.objects.filter(pk__in=[row.pk for row in rows])
    stop_withdrawals(items)
    items.update(
        decision=_DECISION_OF[action],
        note=note,
        decided_by=None if undone else by.user,
        decided_at=None if undone else now,
        decided_digest="" if undone else F("digest") if digest is None else digest,
        version=F("version") + 1,
        applied=Applied.NOT_YET,
        job=None,
    )
    update_open(items)


def _step(row: Item, action: StepAction, by: Requester, at: datetime, note: str, digest: str | None) -> Step:
    about = row.digest if digest is None else digest
    return Step(item=row, number=row.version + 1, action=action, by=by.user, at=at, note=note, digest=about)
