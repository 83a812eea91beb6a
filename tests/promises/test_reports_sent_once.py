"""A scheduled report is created once and sent at most once to each person, even if any worker is killed."""

import time
import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.notifications.models import OutgoingMessage, State
from portal.reports.models import Report, Schedule
from tests.support.house import House, Process
from tests.support.mailbox import Mailbox
from tests.support.stage import Customer, Stage
from tests.support.waiting import until


@pytest.fixture
def customer(stage: Stage) -> Customer:
    return stage.customer(members=5)


def scheduled(customer: Customer) -> Schedule:
    """Set up a schedule long ago, for two people, that is due now."""
    people = [customer.staff("owner"), customer.staff("facility manager")]
    with customer.scope():
        return Schedule.objects.create(
            nonce=uuid.uuid4(), kind="week", every="week", hour=0, language="ja", by=people[0],
            recipients=[each.pk for each in people], made_at=timezone.now() - timedelta(weeks=9),
            next_at=timezone.now(),
        )  # fmt: skip


def mails(house: House, tenant: str) -> Counter[str]:
    """Count how often a report of this tenant arrived at each address."""
    return Counter(
        mail["To"]
        for mail in house.mails()
        if str(mail["X-Message"]).startswith("report.") and f"/t/{tenant}/reports/" in mail.get_content()
    )


def due(customer: Customer, schedule: Schedule) -> None:
    with customer.scope():
        Schedule.objects.filter(pk=schedule.pk).update(next_at=timezone.now())
        Report.objects.filter(schedule=schedule, due_at__isnull=False).update(due_at=timezone.now())


def test_a_report_is_made_and_sent_once_though_workers_are_killed(house: House, customer: Customer) -> None:
    schedule = scheduled(customer)
    for number in range(4):
        due(customer, schedule)
        time.sleep(0.4 * number)
        for worker in (house.urgent, house.steady):
            worker.kill()
        house.mend()

    def over() -> bool:
        due(customer, schedule)
        with customer.scope():
            return OutgoingMessage.objects.exclude(state=State.WAITING).count() == 2

    until(over, saying="everybody is told", pause=3)
    time.sleep(2)
    with customer.scope():
        assert Report.objects.filter(schedule=schedule, made_at__isnull=False).count() == 1
        unsure = OutgoingMessage.objects.exclude(state=State.SENT).count()
    arrived = mails(house, customer.tenant.slug)
    assert set(arrived.values()) <= {1}
    assert len(arrived) >= 2 - unsure


def test_a_mail_whose_arrival_was_not_noted_is_not_sent_again(house: House, customer: Customer) -> None:
    schedule = scheduled(customer)
    with Mailbox() as mailbox, house.still():
        mailbox.held.set()
        house.steady.stop()
        worker = Process(house.programs(EMAIL_URL=mailbox.url).worker("reporting", "bulk,sync", 1))
        worker.start()
        try:
            ring(customer, "report_schedules", schedule.pk)
            until(lambda: made(customer, schedule), saying="it is made")
            ring(customer, "report_schedules", schedule.pk)
            until(lambda: mailbox.mails, saying="a mail arrives")
        finally:
            worker.kill()
        first = len(mailbox.mails)
        mailbox.held.clear()
    house.mend()
    due(customer, schedule)
    until(lambda: State.SENT in states(customer), saying="the other one is told", pause=0.5)
    age_claims(customer)
    until(lambda: State.UNCERTAIN in states(customer), saying="nobody waits for the first one", pause=0.5)
    time.sleep(2)
    assert first == 1
    assert sum(mails(house, customer.tenant.slug).values()) == 1
    assert sorted(states(customer)) == [State.SENT, State.UNCERTAIN]


def ring(customer: Customer, process: str, pk: int) -> None:
    customer.house.deliver(f"portal.processes.{process}", customer.tenant.pk, pk, queue="bulk")


def made(customer: Customer, schedule: Schedule) -> bool:
    with customer.scope():
        return Report.objects.filter(schedule=schedule, made_at__isnull=False).exists()


def states(customer: Customer) -> list[str]:
    with customer.scope():
        return list(OutgoingMessage.objects.values_list("state", flat=True))


def age_claims(customer: Customer) -> None:
    """Make claims look older, and due, instead of waiting for them."""
    with customer.scope():
        rows = OutgoingMessage.objects.filter(state=State.SENDING)
        rows.update(claimed_at=timezone.now() - timedelta(seconds=100), due_at=timezone.now())
