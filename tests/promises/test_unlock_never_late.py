"""Unlock never late: a command that did not leave within 15 seconds of the click is never sent."""

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from portal.domain.intents.models import PHYSICAL_SECONDS, Intent, Reason, State
from tests.support import faults
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import PATIENCE, until

# In quick tests the click is dated 12 seconds back, so that 3 seconds are left.
_LEFT = 3.0

Outage = Callable[[House], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def no_workers(house: House) -> Iterator[None]:
    house.urgent.kill()
    yield
    house.urgent.start()


@contextlib.contextmanager
def frozen_workers(house: House) -> Iterator[None]:
    with house.urgent.paused():
        yield


@contextlib.contextmanager
def no_broker(house: House) -> Iterator[None]:
    house.kill_broker()
    yield
    house.restart_broker()


@contextlib.contextmanager
def frozen_broker(house: House) -> Iterator[None]:
    with house.paused_broker():
        yield


OUTAGES: dict[str, Outage] = {
    "no worker": no_workers,
    "frozen worker": frozen_workers,
    "no broker": no_broker,
    "frozen broker": frozen_broker,
}


def clicked(customer: Customer, left: float = _LEFT, **more: object) -> Intent:
    """Record a click that has `left` seconds to leave."""
    ago = timedelta(seconds=PHYSICAL_SECONDS - left)
    return customer.unlock(clicked_at=timezone.now() - ago, **more)  # type: ignore[arg-type]


def overdue(intent: Intent) -> None:
    """Wait until the click's time is over."""
    deadline = intent.deadline
    assert deadline is not None
    until(lambda: timezone.now() > deadline, saying="the deadline is over")


def lateness(customer: Customer, clicks: dict[str, datetime]) -> float:
    """Return by how many seconds the latest arrival missed its deadline; negative when none did."""
    worst = -PHYSICAL_SECONDS * 1.0
    for arrival in customer.arrivals():
        after = (datetime.fromisoformat(arrival["at"]) - clicks[arrival["device_id"]]).total_seconds()
        worst = max(worst, after - PHYSICAL_SECONDS)
    return worst


@pytest.mark.quick
def test_a_click_that_waits_too_long_expires(house: House, stage: Stage) -> None:
    """Pause the workers, and the broker too, for longer than the click may wait."""
    customer = stage.customer()
    intents = []
    with house.urgent.paused():
        intents.append(clicked(customer))
        with house.paused_broker():
            overdue(intents[0])
    assert [customer.settled(intent).state for intent in intents] == [State.EXPIRED]
    assert customer.arrivals() == []


def test_a_process_stopped_between_claim_and_writing_does_not_write(house: House, stage: Stage) -> None:
    customer = stage.customer()
    with house.still():
        intent = customer.unlock(clicked_at=timezone.now() - timedelta(seconds=PHYSICAL_SECONDS - 5), rung=False)
        with stage.proxy.stalled():
            house.deliver("portal.domain.intents.tasks.send", intent.tenant_id, intent.pk, queue="doors")
            until(lambda: customer.intent(intent).state == State.SENDING, pause=0.01)
            house.urgent.pause()
        overdue(intent)
        house.urgent.resume()
        row = customer.settled(intent)
    assert row.state == State.EXPIRED
    assert stage.proxy.count("POST .*requests", forwarded=False) == 0


def test_the_service_away_is_tried_again_only_until_the_deadline(house: House, stage: Stage) -> None:
    """Refuse connections: such requests were certainly not applied and are retried, but never past the deadline."""
    customer = stage.customer()
    with stage.proxy.down():
        late = clicked(customer)
        overdue(late)
    assert customer.settled(late).state == State.EXPIRED
    with stage.proxy.down():
        in_time = customer.unlock(customer.doors[1])
        until(lambda: customer.intent(in_time).attempts >= 1)
    assert customer.settled(in_time).state == State.SUCCEEDED
    assert [each["device_id"] for each in customer.arrivals()] == [customer.doors[1]]


def test_what_a_standstill_of_the_network_held_back_does_not_arrive_afterwards(house: House, stage: Stage) -> None:
    customer = stage.customer()
    rule = stage.proxy.on("POST .*requests", faults.network_standstill)
    intent = customer.unlock()
    row = customer.settled(intent)
    assert (row.state, row.attempts, rule.met) == (State.UNCERTAIN, 1, 1)
    assert rule.over.wait(PATIENCE), "what was held back is delivered or given up"
    assert customer.arrivals() == []


def test_what_a_killed_worker_had_on_its_way_does_not_arrive_and_is_soon_called_uncertain(
    house: House, stage: Stage, figure: Callable[..., None]
) -> None:
    customer = stage.customer()
    rule = stage.proxy.on("POST .*requests", faults.network_standstill)
    intent = customer.unlock()
    rule.wait()
    killed = time.monotonic()
    house.urgent.kill()
    house.urgent.start()
    row = customer.settled(intent)
    took = time.monotonic() - killed
    figure("unlock never late", "SIGKILL in mid-send: seconds until it is called uncertain", f"{took:.1f}", "below 15")
    assert (row.state, row.reason) == (State.UNCERTAIN, Reason.PROCESS)
    assert took < 15
    assert rule.over.wait(PATIENCE), "what was held back is delivered or given up"
    assert customer.arrivals() == []


@pytest.mark.soak
@pytest.mark.parametrize("name", OUTAGES)
def test_a_minute_without(house: House, stage: Stage, figure: Callable[..., None], name: str) -> None:
    """Click before and during an outage of a minute, one door each."""
    customer = stage.customer()
    asker = customer.asker()
    clicks: dict[str, datetime] = {}
    intents: list[Intent] = []
    with OUTAGES[name](house):
        for door in customer.doors[:10]:
            clicks[door] = timezone.now()
            intents.append(customer.unlock(door, by=asker))
            time.sleep(6)
    ends = [customer.settled(intent, 60).state for intent in intents]
    figure("unlock never late", f"a minute with {name}: seconds past the deadline", f"{lateness(customer, clicks):.1f}",
           "below 0")  # fmt: skip
    assert set(ends) <= {State.EXPIRED, State.SUCCEEDED}
    assert lateness(customer, clicks) < 0


@pytest.mark.soak
def test_a_minute_without_the_database(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    customer = stage.customer()
    clicks = {}
    intents = []
    asker = customer.asker()
    for door in customer.doors[:4]:
        clicks[door] = timezone.now()
        intents.append(customer.unlock(door, by=asker, rung=False))
    with house.database_down():
        time.sleep(60)
    ends = [customer.settled(intent, 60).state for intent in intents]
    late = lateness(customer, clicks)
    figure("unlock never late", "a minute with no database: seconds past the deadline", f"{late:.1f}", "below 0")
    assert late < 0
    assert State.QUEUED not in ends


@pytest.mark.soak
def test_a_process_stopped_for_longer_than_the_deadline(
    house: House, stage: Stage, figure: Callable[..., None]
) -> None:
    customer = stage.customer()
    asker = customer.asker()
    clicks: dict[str, datetime] = {}
    intents: list[Intent] = []
    for door in customer.doors[:2]:
        clicks[door] = timezone.now()
        intent = customer.unlock(door, by=asker, rung=False)
        with stage.proxy.stalled():
            house.deliver("portal.domain.intents.tasks.send", intent.tenant_id, intent.pk, queue="doors")
            until(lambda found=intent: customer.intent(found).state == State.SENDING, pause=0.01)
            house.urgent.pause()
        time.sleep(17)
        house.urgent.resume()
        intents.append(intent)
    for intent in intents:
        customer.settled(intent, 60)
    figure("unlock never late", "SIGSTOP of 17 s between claim and write: arrivals", len(customer.arrivals()), "0")
    assert customer.arrivals() == []
