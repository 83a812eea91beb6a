"""Send mails to reviewers with waiting items: at the start, a week and a day before the due date, and when overdue.

A row for each person and kind is saved before its mail is sent, so that no one gets the same mail twice. If a worker
dies in between, the row stays and no second mail is sent. A new due date deletes the rows of the old one, so that its
reminders are sent again.
"""

from collections.abc import Iterator
from datetime import datetime, time, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Count, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from portal.base.timers import task_queue
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import TaskWakeup
from portal.base.ui.times import TOKYO
from portal.domain.notifications import mailing
from portal.domain.notifications.delivery_outcomes import DeliveryOutcome
from portal.reviews.models import Item, Reminder, Review, State
from tenants.access import access_to
from tenants.models import User, current_tenant
from tenants.roles import Permission

REMIND_TASK = "portal.reviews.tasks.remind"
_REMIND_AGAIN, _REMIND_RETRY = timedelta(hours=1), timedelta(minutes=3)
_HOUR = time(8)
Kind = Reminder.Kind


def wake_reminders(review: Review) -> None:
    """Wake a worker for the reminders after the transaction."""
    Review.objects.filter(pk=review.pk, state=State.RUNNING).update(remind_at=ClockTime())
    task_queue.enqueue_after_commit(REMIND_TASK, review.tenant_id, review.pk)


def reset_reminders(review: Review) -> None:
    """Delete reminders of the old due date, so that new ones are sent.

    Call it in the transaction that changes the date.
    """
    Reminder.objects.filter(review=review).exclude(kind=Kind.START).delete()
    wake_reminders(review)


def reminder_times(review: Review) -> dict[Kind, datetime]:
    """Return the time from which each kind of reminder is due."""
    due = datetime.combine(review.due_on, _HOUR, TOKYO)
    days = {Kind.WEEK: -7, Kind.DAY: -1, Kind.OVERDUE: 1}
    return {kind: due + timedelta(days=number) for kind, number in days.items()}


def kind_now(review: Review, now: datetime) -> Kind:
    """Return the reminder that is due for a person without one: the latest whose time has come since the start."""
    begun = review.listed_at or now
    come = [kind for kind, at in reminder_times(review).items() if at <= now and (at > begun or kind == Kind.OVERDUE)]
    return come[-1] if come else Kind.START


def remind(review_id: int) -> None:
    """Send the due reminders of a running review, each mail at most once."""
    review = Review.objects.filter(pk=review_id, state=State.RUNNING).first()
    if review is None:
        Review.objects.filter(pk=review_id).update(remind_at=None)
        return
    if review.listed_at is not None:
        for user, count, kind in _due_reminders(review, database_now()):
            _remind(review, user, count, kind)
    Review.objects.filter(pk=review_id, state=State.RUNNING).update(remind_at=ClockTime() + _REMIND_AGAIN)


def _due_reminders(review: Review, now: datetime) -> Iterator[tuple[User, int, Kind]]:
    kind = kind_now(review, now)
    waiting = Item.objects.filter(review=review, is_open=True, is_barred=False, reviewer__isnull=False).order_by()
    counts = dict(waiting.values_list("reviewer_id").annotate(n=Count("pk")))
    for user in User.objects.filter(pk__in=counts).order_by("pk"):
        yield user, counts[user.pk], kind


def _remind(review: Review, user: User, count: int, kind: Kind) -> None:
    with transaction.atomic():
        # Locked, so that the due date does not change before the row is saved.
        same = Review.objects.select_for_update(of=("self",), no_key=True).filter(pk=review.pk, due_on=review.due_on)
        if same.first() is None:
            return
        row, is_new = Reminder.objects.get_or_create(review=review, user=user, kind=kind)
    if not is_new:
        return
    outcome = _try_send(review, user, count, kind)
    if outcome.should_retry:  # surely did not arrive; retried in the next run
        row.delete()
    else:
        Reminder.objects.filter(pk=row.pk).update(came=str(outcome.state))


def _try_send(review: Review, user: User, count: int, kind: Kind) -> DeliveryOutcome:
    access = access_to(user, current_tenant())
    if access is None or access.support_session or not access.can(Permission.REVIEWS_DECIDE):
        return DeliveryOutcome.failed("no permission")
    with override(user.language or settings.LANGUAGE_CODE):
        return mailing.send(_message(review, user, count, kind))


def _message(review: Review, user: User, count: int, kind: Kind) -> EmailMessage:
    tenant = current_tenant()
    address = settings.PORTAL_URL + reverse("reviews:decide", args=[tenant.slug, review.pk])
    said = {
        "review": review,
        "tenant": tenant,
        "count": count,
        "overdue": kind == Kind.OVERDUE,
        "address": f"{address}?state=open",
    }
    title = _("Access review overdue: %(title)s") if kind == Kind.OVERDUE else _("Access review: %(title)s")
    subject = f"[{tenant.name}] {title % {'title': review.title}}"
    headers = {"Auto-Submitted": "auto-generated", "X-Review": f"{review.pk}.{kind}"}
    return EmailMessage(subject, render_to_string("reviews/mail.txt", said), None, [user.email], headers=headers)


def mark_reminders_restored(found_at: datetime) -> int:
    """Treat reminders that are due now as sent, after a restore from a backup."""
    rows = [
        Reminder(review=review, user=user, kind=kind, came=str(DeliveryOutcome.uncertain("").state))
        for review in Review.objects.filter(state=State.RUNNING, listed_at__isnull=False)
        for user, _count, kind in _due_reminders(review, found_at)
    ]
    return len(Reminder.objects.bulk_create(rows, ignore_conflicts=True))


def _due_for_reminders() -> QuerySet[Review]:
    return Review.objects_across_tenants.filter(remind_at__lte=ClockTime(), state=State.RUNNING)


REMINDERS_DUE = TaskWakeup(
    rows=_due_for_reminders,
    task=REMIND_TASK,
    claim_values=lambda: {"remind_at": ClockTime() + _REMIND_RETRY},
    order=("remind_at",),
)
