"""Alerts: none is lost or doubled, each is notified once even if workers are killed, never into private networks."""

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from portal.domain import events
from portal.domain.alerts.models import Alert, AlertRecord, DetectionState
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.history.records import insert_records
from portal.domain.notifications.models import OutgoingMessage, State, WebAddress
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from tenants.models import User
from tests.support.chat_server import Chat
from tests.support.effort import SOAK
from tests.support.house import House, Process
from tests.support.log import record, theirs
from tests.support.mailbox import Mailbox
from tests.support.stage import Customer, Stage
from tests.support.waiting import PATIENCE, until

EVENTS = 10_000 if SOAK else 500
DOORS = 100
KILLS = 5 if SOAK else 1


@pytest.fixture
def customer(stage: Stage) -> Customer:
    """Return a tenant with alert rules, and with one person who is notified of alarms."""
    customer = stage.customer()
    customer.owner = customer.staff("owner")
    with customer.scope():
        DetectionState.objects.create(tenant=customer.tenant, since=timezone.now() - timedelta(days=1))
    return customer


def take_over(customer: Customer, *records) -> list[History]:
    """Store records as if read from the log and publish them to the listeners, in one transaction like the portal."""
    with customer.scope(), transaction.atomic():
        insert_records([theirs(customer.tenant, each) for each in records])
        rows = list(History.objects.filter(history_id__in=[each.history_id for each in records]).order_by("at", "pk"))
        events.publish(MirrorKind.HISTORIES, customer.tenant, histories=rows)
    return rows


def forced(device: str, seconds_ago: float = 30, **said: str):
    at = timezone.now() - timedelta(seconds=seconds_ago)
    return record(at, category="suspicious", content="forced_open", device_id=device, device_name=device, **said)


def mails(house: House, user: User) -> Counter[str]:
    """Count how often each notification arrived at a person's address, from the site's mails."""
    sent = [mail["X-Message"] for mail in house.mails() if mail["To"] == user.email]
    return Counter(alert for alert in sent if alert)


def messages(customer: Customer) -> list[OutgoingMessage]:
    with customer.scope():
        return list(OutgoingMessage.objects.order_by("pk"))


def all_ended(customer: Customer) -> bool:
    with customer.scope():
        return not OutgoingMessage.objects.exclude(due_at=None).exists()


@contextmanager
def sender(house: House, **settings: str) -> Iterator[Process]:
    """Yield a worker that sends notifications, with its own mail server or networks, in place of the site's."""
    process = Process(house.programs(**settings).worker("outbox", "sync", 1))
    process.start()
    try:
        yield process
    finally:
        process.stop()


def ring(customer: Customer) -> None:
    for each in messages(customer):
        customer.house.deliver("portal.processes.outbox", customer.tenant.pk, each.pk, queue="sync")


def age(customer: Customer, seconds: int) -> None:
    """Make claims look older, and due, instead of waiting for them."""
    customer.house.sql(
        "UPDATE notifications_outgoingmessage SET claimed_at = claimed_at - make_interval(secs => %s), due_at = now()"
        " WHERE tenant_id = %s AND due_at IS NOT NULL",
        seconds,
        customer.tenant.pk,
    )


class TestWhoeverIsKilled:
    def test_between_record_and_alert_and_before_the_message_is_kept_nothing_is_lost(
        self, house: House, customer: Customer
    ) -> None:
        schedule.schedule_all(customer.tenant)
        until(lambda: _log(customer) is not None, saying="the log is read")
        with customer.scope():
            watch = DetectionState.objects.get()
        for table, pk in (("alerts_detectionstate", watch.pk), ("tenants_user", customer.owner.pk)):
            door = customer.doors[0] if table == "alerts_detectionstate" else customer.doors[1]
            with house.locked(table, pk):
                house.sandbox.console("doors", tenant_id=customer.service.tenant_id, device_id=door, action="force")
                read_the_log(customer)
                until(house.waiting_for_locks, saying="what was read waits to be kept")
                house.steady.kill()
            house.mend()
            age_leases(customer)
        until(lambda: len(_alerts(customer)) == 2 and all_ended(customer), saying="both are alerts, told")
        assert [each.times for each in _alerts(customer)] == [1, 1]
        assert [each.state for each in messages(customer)] == [State.SENT, State.SENT]
        assert list(mails(house, customer.owner).values()) == [1, 1]

    def test_before_the_claim_it_is_told_by_the_next_once_however_often_the_bell_rings(
        self, house: House, customer: Customer
    ) -> None:
        house.steady.kill()
        take_over(customer, forced("D1"))
        house.mend()
        for _ in range(5):
            ring(customer)
        until(lambda: all_ended(customer), saying="it is told")
        assert (messages(customer)[0].state, sum(mails(house, customer.owner).values())) == (State.SENT, 1)

    @pytest.mark.quick
    def test_between_claim_and_sending_it_is_uncertain_and_not_sent(self, house: House, customer: Customer) -> None:
        with house.quiet(), silent_server() as url, sender(house, EMAIL_URL=url) as worker:
            take_over(customer, forced("D1"))
            ring(customer)
            until(lambda: messages(customer)[0].state == State.SENDING, saying="it is claimed")
            worker.kill()
        self.is_uncertain(customer)
        assert not mails(house, customer.owner)

    def test_between_sending_and_noting_it_is_uncertain_and_not_sent_again(
        self, house: House, customer: Customer
    ) -> None:
        with Mailbox() as mailbox, house.quiet():
            mailbox.held.set()
            with sender(house, EMAIL_URL=mailbox.url) as worker:
                take_over(customer, forced("D1"))
                ring(customer)
                until(lambda: mailbox.mails, saying="it arrives")
                worker.kill()
            mailbox.held.clear()
        self.is_uncertain(customer)
        assert mailbox.to == [customer.owner.email]
        assert not mails(house, customer.owner)

    def is_uncertain(self, customer: Customer) -> None:
        age(customer, 100)
        until(lambda: all_ended(customer), saying="nobody waits for it any more")
        assert [each.state for each in messages(customer)] == [State.UNCERTAIN]
        with customer.browser(customer.owner) as browser:
            page = browser.get(customer.url(f"alerts/{_alerts(customer)[0].pk}/")).text
        assert "Uncertain, may have been sent" in page


@pytest.mark.share
def test_of_many_events_none_is_lost_or_doubled_and_each_alert_is_told_once(
    house: House, customer: Customer, figure
) -> None:
    """Change doors to and fro, repeat records, and kill the sending worker again and again."""
    found = []
    for start in range(0, EVENTS, DOORS):
        some = [forced(f"D{number}", 60 - start * 50 / EVENTS) for number in range(DOORS)]
        shut = [forced(f"D{number}", 59.9 - start * 50 / EVENTS, status="restore") for number in range(0, DOORS, 2)]
        take_over(customer, *some, *shut)
        take_over(customer, *some, *shut)
        found += some
        if start % (EVENTS // KILLS) == 0:
            house.steady.kill()
            house.mend()
    until(lambda: _waiting(customer) == 0, 2 * PATIENCE, saying="all is sent, or its sender died")
    age(customer, 100)
    until(lambda: all_ended(customer), saying="nothing is due any more")
    with customer.scope():
        kept = AlertRecord.objects.filter(kind="forced").values_list("history_id", flat=True)
        assert Counter(kept) == Counter(each.history_id for each in found)
    alerts, told, arrived = _alerts(customer), messages(customer), mails(house, customer.owner)
    sent = {f"alert.{each.subject}.{each.pk}" for each in told if each.state == State.SENT}
    uncertain = sum(each.state == State.UNCERTAIN for each in told)
    figure("alerts", f"records of {EVENTS} lost or doubled", 0, "0")
    figure("alerts", f"messages of {len(alerts)} doubled", sum(arrived.values()) - len(arrived), "0")
    figure("alerts", f"messages uncertain after {KILLS} kills", uncertain, "at most 2 a kill")
    assert len(alerts) == DOORS
    assert Counter(each.subject for each in told) == Counter(each.pk for each in alerts)
    assert set(arrived.values()) <= {1}
    assert sent <= set(arrived)
    assert len(sent) + uncertain == len(told)
    assert uncertain <= 2 * KILLS


class TestAWebAddress:
    @pytest.mark.quick
    def test_on_a_private_network_is_never_reached(self, house: House, customer: Customer, tmp_path: Path) -> None:
        with Chat(tmp_path) as chat:
            with customer.scope():
                for host in ("localhost", "127.0.0.1", "[::ffff:127.0.0.1]"):
                    made = {"name": host, "url": chat.url(host), "secret": "s", "least": 1, "language": "en"}
                    WebAddress.objects.create(**made)
            take_over(customer, forced("D1"))
            until(lambda: all_ended(customer), saying="all are refused")
            assert chat.posts == []
        answers = [(each.state, each.answer) for each in messages(customer) if each.address_id]
        assert answers == [(State.FAILED, "network refused")] * 3

    def test_is_reached_where_the_operator_allows_it_and_leads_nowhere_else(
        self, house: House, customer: Customer, tmp_path: Path
    ) -> None:
        with Chat(tmp_path) as chat, house.quiet():
            chat.answers = [(307, {"Location": chat.url(path="/inside")}, b"")]
            with customer.scope():
                made = {"name": "chat", "url": chat.url("127.0.0.1"), "secret": "s", "least": 1, "language": "en"}
                WebAddress.objects.create(**made)
            allowed = {"PORTAL_ALERT_NETWORKS": "127.0.0.0/8", "SSL_CERT_FILE": str(chat.certificate)}
            with sender(house, **allowed):
                take_over(customer, forced("D1"))
                ring(customer)
                until(lambda: all_ended(customer), saying="it is answered")
            assert [each.path for each in chat.posts] == ["/hook/geheim1234"]
        answers = [(each.state, each.answer) for each in messages(customer) if each.address_id]
        assert answers == [(State.FAILED, "HTTP 307")]


@contextmanager
def silent_server() -> Iterator[str]:
    """Yield the address of a mail server that accepts connections but never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"smtp://127.0.0.1:{listening.getsockname()[1]}"


def read_the_log(customer: Customer) -> None:
    with customer.scope():
        schedule.request_more(customer.tenant, MirrorKind.HISTORIES)


def age_leases(customer: Customer) -> None:
    """Release the log lease of a killed worker, instead of waiting for it."""
    customer.house.sql(
        "UPDATE sync_mirrorstate SET lease_until = now(), due_at = now() WHERE tenant_id = %s AND kind = %s",
        customer.tenant.pk,
        MirrorKind.HISTORIES,
    )


def _log(customer: Customer):
    with customer.scope():
        state = MirrorState.objects.filter(kind=MirrorKind.HISTORIES).first()
    return state and state.as_of


def _alerts(customer: Customer) -> list[Alert]:
    with customer.scope():
        return list(Alert.objects.filter(kind="forced").order_by("pk"))


def _waiting(customer: Customer) -> int:
    with customer.scope():
        return OutgoingMessage.objects.filter(state=State.WAITING).count()
