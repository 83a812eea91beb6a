"""Run reviews in workers: list the rights, check them again, follow withdrawals, and write the report.

One step handles some hundred members in the order of their IDs, and saves its results and its position in one
transaction. If a worker dies, only that step is repeated. The pass is repeated after a pause, so that rights that are
loaded later become items, and changes and departures are noticed.

An advisory lock allows one process per review. Steps and decisions lock the review first and its items then, to avoid
deadlocks. So a review never ends between reading and writing in a step.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from portal.base.timers import task_queue
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import TaskWakeup
from portal.base.ui.times import local
from portal.domain.mirror.coverage import load_coverage
from portal.domain.mirror.models import Member
from portal.reviews import access_history, assigning, conflicts, item_status, reminding, rights, signed_report
from portal.reviews.models import Item, Review, Standing, State
from portal.reviews.rights import RightKey

STEP_TASK = "portal.reviews.tasks.step"
# The pause before a running review is checked again, and the pause before a failed worker's step is repeated.
RECHECK_AFTER, _RETRY_AFTER = timedelta(minutes=10), timedelta(seconds=20)
# Staff's actions may be recorded this much later than their time.
_LATE_RECORDS = timedelta(hours=1)
# How many rights one transaction checks, and how long one worker continues.
MAX_RIGHTS = 1000
_MAX_SECONDS = 8.0
_LOCK = 0x4E56
Found = dict[str, dict[str, Any]]


def wake(review: Review) -> None:
    """Wake a worker for the review after the transaction."""
    Review.objects.filter(pk=review.pk).update(due_at=ClockTime())
    task_queue.enqueue_after_commit(STEP_TASK, review.tenant_id, review.pk)


def run_steps(review_id: int) -> None:
    """Run steps for a while. It may be called any number of times, by any number of workers."""
    until = monotonic() + _MAX_SECONDS
    while run_step(review_id):
        if monotonic() > until:
            review = Review.objects.get(pk=review_id)
            task_queue.enqueue_after_commit(STEP_TASK, review.tenant_id, review_id)
            return
    signed_report.write_report(review_id)


def run_step(review_id: int) -> bool:
    """Run one step. Return whether there is more to do at once."""
    with transaction.atomic():
        if not _has_lock(review_id):
            return False
        rows = Review.objects.select_for_update(of=("self",), no_key=True)
        review = rows.filter(pk=review_id, state__in=[State.RUNNING, State.CLOSING]).first()
        if review is None:
            Review.objects.filter(pk=review_id).update(due_at=None)
            return False
        follows = item_status.update_withdrawals(review)
        more = _check_next_members(review)
        item_status.stop_withdrawals(Item.objects.filter(review=review, is_open=True))
        _schedule_next(review, more, follows)
    return more


def _has_lock(review_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [_LOCK, review_id % 2**31])
        return bool(cursor.fetchone()[0])


def _schedule_next(review: Review, more: bool, follows: timedelta | None) -> None:
    """Save the time of the next run."""
    if review.state == State.RUNNING:
        pause = timedelta(0) if more else follows or RECHECK_AFTER
        Review.objects.filter(pk=review.pk).update(due_at=ClockTime() + pause)


def _check_next_members(review: Review) -> bool:
    """Check the next members; start a new pass if one is due. Return whether there are more."""
    if not review.is_looking:
        due = review.looked_at is None or review.looked_at <= database_now() - RECHECK_AFTER
        if review.state == State.CLOSING or not due:
            return False
        review.is_looking, review.place = True, ""
    batch = max(MAX_RIGHTS // max(len(review.areas), 1), 50)
    rows = Member.objects.filter(gone_at__isnull=True, member_id__gt=review.place).order_by("member_id")
    members = list(rows.defer("card_data", "qrcode", "extra", "rights")[:batch])
    last = members[-1].member_id if len(members) == batch else None
    _update_items(review, members, last_id=last)
    if last is None:
        _finish_round(review)
    Review.objects.filter(pk=review.pk).update(is_looking=last is not None, place=last or "")
    return last is not None


def _finish_round(review: Review) -> None:
    """Save that the pass has ended, and how many members' rights are not loaded."""
    everybody = Member.objects.filter(gone_at__isnull=True)
    told = {"members": everybody.count(), "missing": everybody.filter(rights_read_at__isnull=True).count()}
    first = {} if review.listed_at else {"listed_at": ClockTime(), "log_from": load_coverage().known_from}
    Review.objects.filter(pk=review.pk).update(looked_at=ClockTime(), **told, **first)
    if not review.listed_at:
        reminding.wake_reminders(review)


def _update_items(review: Review, members: Sequence[Member], *, last_id: str | None) -> None:
    """Create and update the items of these members, and of members between them who have left."""
    area_ids = [each["id"] for each in review.areas]
    mine = Item.objects.filter(review=review, member_id__gt=review.place)
    mine = mine if last_id is None else mine.filter(member_id__lte=last_id)
    known: dict[RightKey, tuple[int, str]] = {
        (member_id, area_id): (pk, now)
        for pk, member_id, area_id, now in mine.values_list("pk", "member_id", "area_id", "now_digest")
    }
    every = {(member.member_id, area_id) for member in members for area_id in area_ids}
    held = rights.rights_of_keys(every | known.keys(), members)
    changed: dict[str, list[int]] = defaultdict(list)
    for key, (pk, before) in known.items():
        if held[key] != before:
            changed[held[key]].append(pk)
    for now, pks in changed.items():
        item_status.save_current_right(Item.objects.filter(pk__in=pks), now)
    _recheck_conflicts(review, mine, {member_id for member_id, _area in known})
    if review.state == State.RUNNING:
        new = {key: now for key, now in held.items() if key not in known and now not in rights.NO_RIGHT}
        _create_items(review, members, new)


def _recheck_conflicts(review: Review, mine: QuerySet[Item], members: set[str]) -> None:
    """Look up again who may not decide about rights that staff may have changed since the last check."""
    again = members
    if review.looked_at is not None and members:
        again = access_history.members_changed_since(members, review.looked_at - _LATE_RECORDS)
    if again:
        items = list(mine.filter(member_id__in=again))
        conflicts.recheck_conflicts(review, items)
        item_status.update_open(Item.objects.filter(pk__in=[item.pk for item in items]))


def _create_items(review: Review, members: Sequence[Member], new: dict[RightKey, str]) -> None:
    if not new:
        return
    people = {member.member_id: member for member in members}
    since, used = access_history.held_since(new), access_history.last_uses({member_id for member_id, _area in new})
    bodies, doors = (
        rights.passes_behind(set(new.values())),
        access_history.doors_by_area({area_id for _member, area_id in new}),
    )
    may, found = {each.pk for each in assigning.reviewers()}, conflicts.find_conflicts(review, new)
    made = []
    for key, digest in new.items():
        member, span = people[key[0]], since.get(key)
        use, day = used[key[0]].of_area(doors[key[1]])
        told = found[key]
        who = assigning.reviewer_of(
            review.rules, member_id=key[0], area_id=key[1], group_id=member.membergroup_id, excluded=told.barred
        )  # fmt: skip
        made.append(
            Item(
                review=review, area_id=key[1], member_id=key[0], name=member.member_name, name_key=member.name_key,
                code=member.member_code, group_id=member.membergroup_id, group=member.membergroup_name,
                right=bodies[digest], digest=digest, now_digest=digest, standing=Standing.SAME,
                since_from=span.begin if span else None, since_at=span.end if span else None,
                use=use, used_on=day, seen_on=local(member.last_seen_at).date() if member.last_seen_at else None,
                reviewer_id=who if who in may else None, is_late=review.listed_at is not None,
                granted=told.granted, barred=told.barred, is_barred=who in may and str(who) in told.barred,
            )
        )  # fmt: skip
    Item.objects.bulk_create(made, ignore_conflicts=True, batch_size=500)


def _due_reviews() -> QuerySet[Review]:
    return Review.objects_across_tenants.filter(due_at__lte=ClockTime())


DUE = TaskWakeup(rows=_due_reviews, task=STEP_TASK, claim_values=lambda: {"due_at": ClockTime() + _RETRY_AFTER})
