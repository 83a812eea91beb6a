"""A restored database does not start old work: dumps from the middle of each kind of work are restored later.

The tests use a separate site whose database is replaced, which takes half a minute. The broker keeps its messages.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from portal.base.timers.clock import database_now
from portal.devices.models import Hold
from portal.domain.alerts.models import Alert
from portal.domain.intents.models import Intent, State
from portal.domain.jobs.models import Job, JobState, Row, RowState
from portal.domain.notifications.models import OutgoingMessage
from tenants import mails
from tests.promises.test_bulk_loses_and_doubles_nothing import BULK, at_the_service, mirrored, started
from tests.support import backups, faults
from tests.support.browser import gist, upload
from tests.support.fixtures import PAUSES
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

GUESTS, MEMBERS = 40, 40
TOMORROW = f"{timezone.localtime() + timedelta(days=1):%Y-%m-%d}"
CREATE_GUEST = "POST .*/v1/guests$"
# As long as the work in the copy would take if it were done again.
LONG_ENOUGH = 15


@pytest.fixture
def house(tmp_path: Path, django_db_blocker: Any) -> Iterator[House]:
    with django_db_blocker.unblock(), House(tmp_path, PORTAL_PAUSES=PAUSES) as made:
        yield made


@pytest.mark.attack
def test_nothing_is_sent_a_second_time_and_what_is_not_known_is_uncertain(
    house: House, tmp_path: Path, figure: Callable[..., None]
) -> None:
    with ExitStack() as end, house.database(), house.stage() as stage:
        customer = stage.customer(members=3)
        mirrored(customer)
        file, guests, members = in_the_middle(house, customer, stage, tmp_path)
        for job in (guests, members):
            until(lambda job=job: state_of(customer, job) == JobState.DONE, 90, saying=f"job {job.pk} ends")
        until(lambda: customer.arrivals(control="lock"), 60, saying="the door was locked again")
        until(lambda: mails_of(house).total() >= 2, 30, saying="both mails have left")
        before, sent = world(customer), mails_of(house)
        assert set(before["guests"].values()) == {1}
        assert len(before["guests"]) == GUESTS
        house.move_to(end.enter_context(backups.restored(file)))
        until(lambda: house.sql("SELECT 1 FROM restore_restore"), 60, saying="the copy was found")
        time.sleep(LONG_ENOUGH)
        until(lambda: readings_are_over(customer), 120, saying="readings have settled what they can", pause=1)
        after, again = world(customer), mails_of(house) - sent
        assert after == before, "no one clicked, and nothing was sent"
        assert all("restored from a backup" in mail for mail in again), again
        assert said_otherwise(customer, guests, "order", "name", after["guests"]) == []
        assert said_otherwise(customer, members, "body", "member_code", after["members"]) == []
        uncertain = Counter(rows(customer, guests)) + Counter(rows(customer, members))
        with customer.scope():
            assert Hold.objects.get().due_at is None
            assert OutgoingMessage.objects.get().answer == "restored"
        with customer.browser("owner") as browser:
            assert "Automatic work is paused." in gist(browser.get(customer.url("")), 100_000)
            assert "would be locked again" in gist(browser.get(customer.url("restore/")), 100_000)
        figure("second codes after a restore", 0, "uncertain rows", uncertain[RowState.UNCERTAIN])


def in_the_middle(house: House, customer: Customer, stage: Stage, folder: Path) -> tuple[Path, Job, Job]:
    """Dump while a list, an import, a held door and a mail are under way; then let them end."""
    stage.proxy.on(CREATE_GUEST, faults.delay_answer(0.2))
    gate = faults.Gate()
    stage.proxy.on(BULK, gate, times=1)
    guests, (members, _by) = list_started(customer), started(customer, MEMBERS)
    door = customer.settled(customer.unlock(control="cont_unlock"))
    until(lambda: sum(guests_at_service(customer).values()) >= 10, 60, saying="some guests are there")
    house.steady.pause()
    house.urgent.pause()
    with customer.scope():
        ends = database_now() + timedelta(seconds=5)
        facts = {"device_id": customer.doors[0], "by": door.by, "unlock": door, "ends_at": ends, "due_at": ends}
        Hold.objects.create(state=Hold.State.ACTIVE, **facts)
        owner = customer.staff("owner")
        alert = Alert.objects.create(kind="forced", subject="door:x", severity=3, weight=3, began_at=ends, last_at=ends)
        OutgoingMessage.objects.create(kind="alert", subject=alert.pk, user=owner)
        mails.queue(to=owner, kind=mails.RESET_LINK, values={"address": "https://portal.example.com/reset/"})
    name = urlsplit(house.database_url).path.lstrip("/")
    file = backups.dump(backups.address("DATABASE_BACKUP_URL", name), folder)
    assert 0 < len(guests_at_service(customer)) < GUESTS
    gate.open.set()
    house.steady.resume()
    house.urgent.resume()
    return file, guests, members


def list_started(customer: Customer) -> Job:
    """Start a list of guests as a receptionist, on its page."""
    lines = ["Name,Start,End", *(f"Guest {n:03},{TOMORROW} 10:00,12:00" for n in range(GUESTS))]
    with customer.browser("receptionist") as browser:
        page = upload(browser, customer.url("guests/expected/"), "file", "guests.csv", "\n".join(lines).encode())
        assert re.search(r"/expected/\d+/", str(page.url)), gist(page)
        form = browser.form(urlsplit(str(page.url)).path, "/start/")
        answer = browser.post(form.action, form.values)
        assert answer.status_code == 302, gist(answer)
    with customer.scope():
        return Job.objects.latest("pk")


def world(customer: Customer) -> dict[str, Any]:
    """Return the state of the service and the commands that it received."""
    return {
        "guests": guests_at_service(customer),
        "members": at_the_service(customer),
        "doors": [len(customer.arrivals(control=control)) for control in ("lock", "cont_unlock", "unlock")],
    }


def guests_at_service(customer: Customer) -> Counter[str]:
    query = {"limit": 1000}
    found = customer.house.sandbox.api("GET", "/v1/guests", token=customer.service.token, params=query).json()
    return Counter(guest["guest_name"] for guest in found["guests"] if guest["guest_name"].startswith("Guest "))


def mails_of(house: House) -> Counter[str]:
    return Counter(f"{mail['To']}: {mail['Subject']}" for mail in house.mails())


def state_of(customer: Customer, job: Job) -> str:
    with customer.scope():
        return Job.objects.get(pk=job.pk).state


def rows(customer: Customer, job: Job) -> list[str]:
    with customer.scope():
        return list(Row.objects.filter(job=job).values_list("state", flat=True))


def said_otherwise(customer: Customer, job: Job, part: str, name: str, there: Counter[str]) -> list[tuple[str, str]]:
    """Return rows with a wrong result: done but missing at the service, or not sent or refused but there."""
    wrong = []
    with customer.scope():
        for row in Row.objects.filter(job=job, action="create").exclude(state=RowState.UNCERTAIN):
            called = str((row.content or {})[part].get(name))
            if (row.state == RowState.SUCCEEDED) != bool(there[called]):
                wrong.append((row.state, called))
    return wrong


def readings_are_over(customer: Customer) -> bool:
    with customer.scope():
        moving = Intent.objects.filter(state__in=[State.QUEUED, State.SENDING, State.ACCEPTED])
        looked_at = Intent.objects.filter(state=State.UNCERTAIN, due_at__isnull=False)
        return not moving.exists() and not looked_at.exists()
