"""Run reviews in workers: list and check rights, follow withdrawals, write the report, and remind reviewers.

One step handles some hundred members in the order of their IDs, and saves its results and its position in one
transaction. If a worker dies, only that step is repeated. The pass is repeated after a pause, so that rights that are
loaded later become items, and changes and departures are noticed.

An advisory lock allows one process per review. Steps and decisions lock the review first and its items then, to avoid
deadlocks. So a review never ends between reading and writing in a step.

Reviewers with waiting items are reminded by mail at the start, a week and a day before the due date, and when overdue,
by each mail at most once (`outbox.py`). A new due date deletes the messages of the old one, so that its reminders are
sent again.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from functools import partial
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.base.ui.times import TOKYO, local
from portal.domain.history.coverage import load_coverage
from portal.domain.notifications import outbox
from portal.domain.notifications.models import OutgoingMessage
from portal.domain.notifications.outbox import MessageKind, MessageText
from portal.domain.people.models import Member
from portal.reviews import assigning, decisions, rights, signed_report
from portal.reviews.models import Item, ReminderKind, Review, RightStatus, State
from portal.reviews.rights import RightKey
from tenants.access import Access
from tenants.models import User, current_tenant
from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.roles import Permission

_REMIND_AGAIN, _REMIND_RETRY = timedelta(hours=1), timedelta(minutes=3)
_HOUR = time(8)
# The pause before a running review is checked again, and the pause before a failed worker's step is repeated.
RECHECK_AFTER, _RETRY_AFTER = timedelta(minutes=10), timedelta(seconds=20)
# Staff's actions may be recorded this much later than their time.
_LATE_RECORDS = timedelta(hours=1)
# How many rights one transaction checks, and how long one worker continues.
MAX_RIGHTS = 1000
_MAX_SECONDS = 8.0
_ONE_WORKER = AdvisoryLock("reviews.worker")
Found = dict[str, dict[str, Any]]


def wake(review: Review) -> None:
    """Wake a worker for the review after the transaction."""
    Review.objects.filter(pk=review.pk).update(due_at=ClockTime())
    STEPS.wake(review.tenant_id, review.pk)


def run_steps(review_id: int) -> None:
    """Run steps for a while. It may be called any number of times, by any number of workers."""
    until = monotonic() + _MAX_SECONDS
    while run_step(review_id):
        if monotonic() > until:
            review = Review.objects.get(pk=review_id)
            STEPS.wake(review.tenant_id, review_id)
            return
    signed_report.write_report(review_id)


def run_step(review_id: int) -> bool:
    """Run one step. Return whether there is more to do at once."""
    with transaction.atomic():
        if not _ONE_WORKER.try_until_commit(review_id):
            return False
        rows = Review.objects.select_for_update(of=("self",), no_key=True)
        review = rows.filter(pk=review_id, state__in=[State.RUNNING, State.CLOSING]).first()
        if review is None:
            Review.objects.filter(pk=review_id).update(due_at=None)
            return False
        follows = decisions.update_withdrawals(review)
        more = _check_next_members(review)
        decisions.stop_withdrawals(Item.objects.filter(review=review, is_open=True))
        _schedule_next(review, more, follows)
    return more


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
    counts = {"members": everybody.count(), "missing": everybody.filter(rights_read_at__isnull=True).count()}
    first = {} if review.listed_at else {"listed_at": ClockTime(), "log_from": load_coverage().known_from}
    Review.objects.filter(pk=review.pk).update(looked_at=ClockTime(), **counts, **first)
    if not review.listed_at:
        wake_reminders(review)


def _update_items(review: Review, members: Sequence[Member], *, last_id: str | None) -> None:
    """Create and update the items of these members, and of members between them who have left."""
    area_ids = [each["id"] for each in review.areas]
    items = Item.objects.filter(review=review, member_id__gt=review.place)
    items = items if last_id is None else items.filter(member_id__lte=last_id)
    known: dict[RightKey, tuple[int, str]] = {
        (member_id, area_id): (pk, now)
        for pk, member_id, area_id, now in items.values_list("pk", "member_id", "area_id", "now_digest")
    }
    every = {(member.member_id, area_id) for member in members for area_id in area_ids}
    held = rights.rights_of_keys(every | known.keys(), members)
    changed: dict[str, list[int]] = defaultdict(list)
    for key, (pk, before) in known.items():
        if held[key] != before:
            changed[held[key]].append(pk)
    for now, pks in changed.items():
        decisions.save_current_right(Item.objects.filter(pk__in=pks), now)
    _recheck_conflicts(review, items, {member_id for member_id, _area in known})
    if review.state == State.RUNNING:
        new = {key: now for key, now in held.items() if key not in known and now not in rights.NO_RIGHT}
        _create_items(review, members, new)


def _recheck_conflicts(review: Review, reviewed: QuerySet[Item], members: set[str]) -> None:
    """Look up again who may not decide about rights that staff may have changed since the last check."""
    again = members
    if review.looked_at is not None and members:
        again = rights.members_changed_since(members, review.looked_at - _LATE_RECORDS)
    if again:
        items = list(reviewed.filter(member_id__in=again))
        assigning.recheck_conflicts(review, items)
        decisions.update_open(Item.objects.filter(pk__in=[item.pk for item in items]))


def _create_items(review: Review, members: Sequence[Member], new: dict[RightKey, str]) -> None:
    if not new:
        return
    people = {member.member_id: member for member in members}
    since, used = rights.held_since(new), rights.last_uses({member_id for member_id, _area in new})
    bodies, doors = (
        rights.passes_behind(set(new.values())),
        rights.doors_by_area({area_id for _member, area_id in new}),
    )
    may, found = {each.pk for each in assigning.reviewers()}, assigning.find_conflicts(review, new)
    made = []
    for key, digest in new.items():
        member, span = people[key[0]], since.get(key)
        use, day = used[key[0]].of_area(doors[key[1]])
        conflict = found[key]
        who = assigning.reviewer_of(
            review.rules, member_id=key[0], area_id=key[1], group_id=member.membergroup_id, excluded=conflict.barred
        )  # fmt: skip
        made.append(
            Item(
                review=review, area_id=key[1], member_id=key[0], name=member.member_name, name_key=member.name_key,
                code=member.member_code, group_id=member.membergroup_id, group=member.membergroup_name,
                right=bodies[digest], digest=digest, now_digest=digest, right_status=RightStatus.SAME,
                since_from=span.begin if span else None, since_at=span.end if span else None,
                use=use, used_on=day, seen_on=local(member.last_seen_at).date() if member.last_seen_at else None,
                reviewer_id=who if who in may else None, is_late=review.listed_at is not None,
                granted=conflict.granted, barred=conflict.barred, is_barred=who in may and str(who) in conflict.barred,
            )
        )  # fmt: skip
    Item.objects.bulk_create(made, ignore_conflicts=True, batch_size=500)


STEPS = Process(
    name="reviews",
    rows=due(Review),
    step=run_steps,
    queue="bulk",
    every=2.0,
    seconds=280,
    claim_values=retry_after(_RETRY_AFTER),
)


def wake_reminders(review: Review) -> None:
    """Wake a worker for the reminders after the transaction."""
    Review.objects.filter(pk=review.pk, state=State.RUNNING).update(remind_at=ClockTime())
    REMINDERS.wake(review.tenant_id, review.pk)


def reset_reminders(review: Review) -> None:
    """Delete reminders of the old due date, so that new ones are sent.

    Call it in the transaction that changes the date.
    """
    outbox.delete_messages([review.pk], *(set(ReminderKind) - {ReminderKind.START}))
    wake_reminders(review)


def reminder_times(review: Review) -> dict[ReminderKind, datetime]:
    """Return the time from which each kind of reminder is due."""
    due = datetime.combine(review.due_on, _HOUR, TOKYO)
    days = {ReminderKind.WEEK: -7, ReminderKind.DAY: -1, ReminderKind.OVERDUE: 1}
    return {kind: due + timedelta(days=number) for kind, number in days.items()}


def kind_now(review: Review, now: datetime) -> ReminderKind:
    """Return the reminder that is due for a person without one: the latest whose time has come since the start."""
    begun = review.listed_at or now
    times = reminder_times(review).items()
    due = [kind for kind, at in times if at <= now and (at > begun or kind == ReminderKind.OVERDUE)]
    return due[-1] if due else ReminderKind.START


def remind(review_id: int) -> None:
    """Queue the due reminders of a running review."""
    with transaction.atomic():
        running = Review.objects.filter(pk=review_id, state=State.RUNNING)
        review = running.select_for_update(of=("self",), no_key=True).first()
        if review is None:
            Review.objects.filter(pk=review_id).update(remind_at=None)
            return
        outbox.queue(_due_reminders(review, database_now()))
        Review.objects.filter(pk=review_id).update(remind_at=ClockTime() + _REMIND_AGAIN)


def _due_reminders(review: Review, now: datetime) -> Iterator[OutgoingMessage]:
    """Yield the reminder that is due for each reviewer with waiting items, after the items are listed."""
    if review.listed_at is None:
        return
    kind = kind_now(review, now)
    for user in User.objects.filter(pk__in=_waiting_items(review).values("reviewer")).order_by("pk"):
        yield OutgoingMessage(kind=kind, subject=review.pk, user=user)


def _waiting_items(review: Review) -> QuerySet[Item]:
    return Item.objects.filter(review=review, is_open=True, is_barred=False, reviewer__isnull=False).order_by()


def _may_receive(_review_id: int, access: Access) -> bool:
    return access.can(Permission.REVIEWS_DECIDE)


def _write(kind: ReminderKind, review_id: int, access: Access | None) -> MessageText | None:
    """Return a reminder, if it is still the one that is due and its reader has waiting items."""
    review = Review.objects.filter(pk=review_id, state=State.RUNNING).first()
    if review is None or kind_now(review, database_now()) != kind:
        return None
    items = _waiting_items(review)
    count = items.filter(reviewer=access.user).count() if access is not None else items.count()
    if count == 0:
        return None
    values = {"review": review, "tenant": current_tenant(), "count": count, "overdue": kind == ReminderKind.OVERDUE}
    values["address"] = f"{outbox.page_url(_ROUTE, review.pk)}?state=open"
    title = _("Access review overdue: %(title)s") if values["overdue"] else _("Access review: %(title)s")
    return MessageText(title % {"title": review.title}, render_to_string("reviews/mail.txt", values))


def mark_reminders_restored(found_at: datetime) -> int:
    """Treat reminders that are due now as sent, after a restore from a backup."""
    running = Review.objects.filter(state=State.RUNNING)
    due = [each for review in running for each in _due_reminders(review, found_at)]
    return len(outbox.queue(map(outbox.as_restored, due)))


_ROUTE = "reviews:decide"
MESSAGES = tuple(
    MessageKind(
        name=kind.value,
        route=_ROUTE,
        may_receive=_may_receive,
        write=partial(_write, kind),
        test_text=gettext_lazy("Test from %(tenant)s: reminders of access reviews arrive here."),
        max_attempts=outbox.ATTEMPTS_IN_A_WEEK,
    )
    for kind in ReminderKind
)
REMINDERS = Process(
    name="review_reminders",
    rows=due(Review, "remind_at", state=State.RUNNING),
    step=remind,
    queue="bulk",
    every=60.0,
    seconds=120,
    claim_values=retry_after(_REMIND_RETRY, "remind_at"),
    order=("remind_at",),
)
