"""Save decisions. Each is about the right that the reviewer saw, has its own step, and never overwrites another.

A press names the item's version and the shown right. It is refused if another person has decided since then, or if the
right has changed; the page then shows the present state. If the same press arrives twice, the second one finds the
saved step and gets the same answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db import transaction
from django.db.models import F, QuerySet

from portal.base.timers.clock import database_now
from portal.domain.intents.recording import Requester
from portal.reviews import conflicts, item_status, rights
from portal.reviews.item_status import lock_review, record
from portal.reviews.models import Act, Applied, Decision, Item, Review, Step
from portal.reviews.rights import LEFT, UNREAD
from tenants.wording import coded_sentence

MAX_ITEMS = 10_000
_BATCH_SIZE = 1000
_DECISION_OF = {Act.CONFIRM: Decision.CONFIRM, Act.WITHDRAW: Decision.WITHDRAW, Act.UNDO: Decision.NONE}
_AUDIT_CODES = {Act.CONFIRM: "review.confirmed", Act.WITHDRAW: "review.marked", Act.UNDO: "review.undone"}
_AUDIT_CODES_MANY = {Act.CONFIRM: "review.confirmed_many", Act.WITHDRAW: "review.marked_many"}


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

    act: Act
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
        if item_status.items_under_way([row]):
            return DecisionResult.UNDER_WAY
        if not conflicts.decidable(review, [row], by.user):
            return DecisionResult.BARRED
        now = _update_current_right(row)
        if (refused := _refusal(row, press, now)) is not None:
            return refused
        _write([row], press.act, by, press.note, digest=now)
        said = coded_sentence(
            _AUDIT_CODES[press.act], name=row.name, area=review.area_names.get(row.area_id, row.area_id)
        )
        told = {"member": row.member_id, "area": row.area_id, "right": now, "note": press.note}
        record(by, review, _AUDIT_CODES[press.act], said, **told)
    return DecisionResult.SAVED


def _refusal(row: Item, press: DecisionPress, now: str) -> DecisionResult | None:
    if press.act == Act.UNDO:
        return DecisionResult.UNDER_WAY if row.applied == Applied.WITHDRAWN else None
    if now in ("", LEFT):
        return DecisionResult.GONE
    if now == UNREAD:
        return DecisionResult.UNREAD
    return DecisionResult.CHANGED if now != press.shown_digest else None


def decide_many(*, review: Review, items: QuerySet[Item], act: Act, by: Requester) -> ManyResult:
    """Decide all waiting items whose right is the same as at the start. The others are skipped.

    Changed rights are decided one by one, where the new right is shown. Raises NotSubmitted if the review has ended.
    """
    saved = left = 0
    with transaction.atomic():
        review = lock_review(review)
        mine = items.filter(review=review, reviewer=by.user, is_open=True)
        barred = mine.filter(is_barred=True).count()
        pks = list(mine.filter(is_barred=False).order_by("pk").values_list("pk", flat=True)[:MAX_ITEMS])
        for batch in _lock_batches(pks):
            waiting = [row for row in batch if row.reviewer_id == by.user.pk and row.is_open]
            ready = conflicts.decidable(review, waiting, by.user)
            barred += len(waiting) - len(ready)
            now = rights.current_rights({(row.member_id, row.area_id) for row in ready})
            sent = item_status.items_under_way(ready)
            same = [row for row in ready if now[row.member_id, row.area_id] == row.digest and row.pk not in sent]
            for row in ready:
                if now[row.member_id, row.area_id] != row.now_digest:
                    item_status.save_current_right(Item.objects.filter(pk=row.pk), now[row.member_id, row.area_id])
            _write(same, act, by, "")
            saved, left = saved + len(same), left + len(batch) - len(waiting) + len(ready) - len(same)
        if saved:
            said = coded_sentence(_AUDIT_CODES_MANY[act], title=review.title, n=saved)
            record(by, review, _AUDIT_CODES_MANY[act], said, items=saved, left=left, barred=barred)
    return ManyResult(saved, left, barred)


def _lock_batches(pks: Sequence[int]) -> Iterator[list[Item]]:
    for at in range(0, len(pks), _BATCH_SIZE):
        rows = Item.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=pks[at : at + _BATCH_SIZE])
        yield list(rows.order_by("pk"))


def _earlier_step(row: Item, press: DecisionPress, by: Requester) -> Step | None:
    """Return the step of this press if it was already saved: the answer was lost, or the person went back."""
    if row.version != press.version + 1:
        return None
    return Step.objects.filter(item=row, number=row.version, act=press.act, by=by.user).first()


def _update_current_right(row: Item) -> str:
    """Return the present right, and save it with the item."""
    key = (row.member_id, row.area_id)
    now = rights.current_rights([key])[key]
    if now != row.now_digest:
        item_status.save_current_right(Item.objects.filter(pk=row.pk), now)
    return now


def _write(rows: Sequence[Item], act: Act, by: Requester, note: str, *, digest: str | None = None) -> None:
    """Save a step and the decision for each row. `digest`: the right that was decided; default: that of the start."""
    if not rows:
        return
    now = database_now()
    Step.objects.bulk_create([_step(row, act, by, now, note, digest) for row in rows], batch_size=500)
    undone = act == Act.UNDO
    items = Item.objects.filter(pk__in=[row.pk for row in rows])
    item_status.stop_withdrawals(items)
    items.update(
        decision=_DECISION_OF[act],
        note=note,
        decided_by=None if undone else by.user,
        decided_at=None if undone else now,
        decided_digest="" if undone else F("digest") if digest is None else digest,
        version=F("version") + 1,
        applied=Applied.NOT_YET,
        job=None,
    )
    item_status.update_open(items)


def _step(row: Item, act: Act, by: Requester, at: datetime, note: str, digest: str | None) -> Step:
    about = row.digest if digest is None else digest
    return Step(item=row, number=row.version + 1, act=act, by=by.user, at=at, note=note, digest=about)
