"""Mails of reports and reminders use the same outbox as alerts: once each, tried again, to web addresses as well."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from portal.base.timers.clock import database_now
from portal.domain.notifications import mailing, outbox
from portal.domain.notifications.mailing import DeliveryOutcome
from portal.domain.notifications.models import OutgoingMessage, State, WebAddress
from portal.reports import report_worker
from portal.reports.models import Report
from portal.reviews import review_worker
from portal.reviews.models import Item, Review
from tests.support.outbox import send_messages
from tests.support.reports import ReportsDesk
from tests.support.reviews import ReviewsDesk

ANSWERED = DeliveryOutcome.sent("HTTP 200")


@pytest.fixture
def desk(place):
    return ReportsDesk(place)


@pytest.fixture
def reviews(place):
    return ReviewsDesk(place)


def sent_report(desk):
    """Return the report of a schedule that was sent to an owner."""
    schedule = desk.schedule(desk.place.staff("owner"))
    mail.outbox.clear()
    desk.monday(schedule)
    with desk.scope():
        return Report.objects.get(schedule=schedule)


def test_a_mail_that_surely_did_not_arrive_is_sent_later_once(desk, monkeypatch):
    with monkeypatch.context() as away:
        away.setattr(mailing, "send", lambda _mail: DeliveryOutcome.failed_for_now("ConnectionRefusedError"))
        report = sent_report(desk)
    page = desk.page(report).partition("Sent to")[2]
    assert "Waiting ConnectionRefusedError" in page
    with desk.scope():
        send_messages()
        assert mail.outbox == [], "not before its time"
        OutgoingMessage.objects.update(not_before=timezone.now())
        send_messages()
        send_messages()
        assert len(mail.outbox) == 1
        message = OutgoingMessage.objects.get()
        assert (message.state, message.attempts, message.due_at) == (State.SENT, 2, None)


def test_a_report_is_tried_for_a_week_with_the_last_pause(desk, monkeypatch):
    monkeypatch.setattr(mailing, "send", lambda _mail: DeliveryOutcome.failed_for_now("SMTP 451"))
    sent_report(desk)
    with desk.scope():
        OutgoingMessage.objects.update(attempts=20, not_before=timezone.now())
        send_messages()
        message = OutgoingMessage.objects.get()
        assert message.state == State.WAITING
        assert abs(message.not_before - database_now() - outbox.RETRY_PAUSES[-1]) < timedelta(seconds=30)
        OutgoingMessage.objects.update(attempts=outbox.ATTEMPTS_IN_A_WEEK - 1, not_before=timezone.now())
        send_messages()
        assert OutgoingMessage.objects.get().state == State.FAILED


def test_a_crash_before_the_text_is_written_leaves_the_message_waiting(desk, monkeypatch):
    report = sent_report(desk)
    with desk.scope():
        OutgoingMessage.objects.all().delete()
        monkeypatch.setattr(outbox, "access_to", lambda *_: 1 / 0)
        [message] = outbox.queue(report_worker.messages_about(report))
        with pytest.raises(ZeroDivisionError):
            outbox.send(message.pk)
        message.refresh_from_db()
    assert (message.state, message.attempts) == (State.WAITING, 0)


def test_a_report_can_be_sent_to_a_web_address(desk, monkeypatch):
    report, posts = sent_report(desk), []
    monkeypatch.setattr(outbox, "post", lambda _to, text, _about: posts.append(text) or ANSWERED)
    with desk.scope():
        address = WebAddress.objects.create(name="chat", url="https://x", secret="s", language="en")
        outbox.queue([OutgoingMessage(kind="report", subject=report.pk, address=address)])
        send_messages()
    [text] = posts
    assert "Report: Week at a glance" in text
    assert desk.link("page", report.pk) in text
    assert "chat Sent HTTP 200" in desk.page(report)


def test_the_messages_of_a_deleted_report_are_deleted(desk):
    report = sent_report(desk)
    with desk.scope():
        Report.objects.filter(pk=report.pk).update(
            requested_at=timezone.now() - timedelta(days=report_worker.RETENTION_DAYS + 1)
        )
        assert report_worker.delete_old_reports(desk.place.tenant) == 1
        assert not OutgoingMessage.objects.exists()


def test_a_reminder_without_a_reason_is_not_sent(reviews):
    review = reviews.start()
    mail.outbox.clear()
    with reviews.scope():
        review_worker.remind(review.pk)
        assert OutgoingMessage.objects.count() == 1
        Item.objects.filter(review=review).update(is_open=False)
        send_messages()
        assert not OutgoingMessage.objects.exists()
    assert mail.outbox == []


def test_an_overtaken_reminder_is_replaced(reviews):
    review = reviews.start()
    mail.outbox.clear()
    with reviews.scope():
        review_worker.remind(review.pk)
        Review.objects.filter(pk=review.pk).update(due_on=timezone.now().date() - timedelta(days=3))
    reviews.remind(review)
    reviews.remind(review)
    assert [each.extra_headers["X-Message"].partition(".")[0] for each in mail.outbox] == ["review_overdue"]


def test_a_reminder_can_be_sent_to_a_web_address(reviews, monkeypatch):
    review, posts = reviews.start(), []
    monkeypatch.setattr(outbox, "post", lambda _to, text, _about: posts.append(text) or ANSWERED)
    with reviews.scope():
        address = WebAddress.objects.create(name="chat", url="https://x", secret="s", language="en")
        outbox.queue([OutgoingMessage(kind="review_start", subject=review.pk, address=address)])
        send_messages()
    [text] = posts
    assert text.startswith(f"[{reviews.place.tenant.name}] Access review: Autumn\n")
