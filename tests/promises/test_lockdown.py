"""Lockdown of 60 doors, with killed workers and 30 device calls an hour: each state is true and nothing is doubled."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections, transaction

from portal.devices import door_orders
from portal.domain.budget.client import client
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import RESERVED_FOR_DOORS, Priority
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.nonces import Nonce
from portal.lockdown import actions, door_outcomes
from portal.lockdown.models import Lockdown, Scope
from portal.lockdown.preview import DoorSelection
from tests.support.door_boards import building
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import PATIENCE, until

DOORS, DEVICE = 60, 30


def lock_all(customer: Customer, *doors: str) -> Lockdown:
    """Start a lockdown of all doors, or of these."""
    asker, wanted = customer.asker(), DoorSelection(Scope.CHOSEN, chosen=doors) if doors else DoorSelection(Scope.ALL)
    with customer.scope():
        return actions.start(selection=wanted, by=asker, nonce=Nonce(secrets.token_urlsafe(12)))


def release(customer: Customer, order: Lockdown) -> None:
    asker = customer.asker()
    with customer.scope():
        actions.release(order=order, by=asker, nonce=Nonce(secrets.token_urlsafe(12)))


def told(customer: Customer, order: Lockdown) -> dict[str, str]:
    """Return the state that the page shows for each door."""
    with customer.scope():
        row = Lockdown.objects.select_related("tenant__environment", "by").get(pk=order.pk)
        return {each.row.device_id: each.result for each in door_outcomes.door_outcomes(row)}


def settled(customer: Customer, order: Lockdown, seconds: float = 60) -> dict[str, str]:
    """Return the states on the page as soon as no request is under way."""
    until(
        lambda: door_orders.SENDING not in told(customer, order).values(),
        seconds,
        saying="every door came to something",
    )
    return told(customer, order)


def requests(customer: Customer) -> list[Intent]:
    with customer.scope():
        return list(Intent.objects.filter(operation="operate_door"))


def locks_at(customer: Customer) -> Counter[str]:
    """Count the locks that the service accepted for each door."""
    return Counter(each["device_id"] for each in customer.arrivals(control="lock"))


def lies(customer: Customer, came: dict[str, str]) -> list[str]:
    """Return doors shown as locked whose lock never arrived, and doors shown as never sent whose lock arrived."""
    arrived = locks_at(customer)
    asked: dict[str, list[Intent]] = {}
    for intent in requests(customer):
        asked.setdefault(intent.path["device_id"], []).append(intent)
    false = [door for door, word in came.items() if word == door_orders.DONE and not arrived[door]]
    surely_not = {State.EXPIRED, State.CANCELLED}
    never = [door for door, tries in asked.items() if all(each.state in surely_not for each in tries)]
    return false + [door for door in never if arrived[door]]


def doubled(customer: Customer) -> list[str]:
    """Return doors with more arrivals than tries that may have left: a try arrives at most once."""
    left = Counter(each.path["device_id"] for each in requests(customer) if each.sent_at is not None)
    return [door for door, count in locks_at(customer).items() if count > left[door]]


def spend_as_people(customer: Customer) -> int:
    """Read doors as people do until they are held back; return how many device calls that used."""
    spent = 0
    with customer.scope():
        connection = customer.connection()
        while True:
            try:
                with client(connection, Priority.PEOPLE) as service:
                    service.call("pass_controller_status", path={"device_id": customer.doors[0]})
                spent += 1
            except BudgetExhausted:
                return spent


@pytest.fixture
def small(house: House) -> Iterator[Stage]:
    """Yield a service with thirty device calls an hour."""
    with house.stage(limits={"general": 720, "device": DEVICE, "window_seconds": 3600}) as made:
        yield made


def test_sixty_doors_with_thirty_calls_and_workers_killed_are_told_as_they_are(
    house: House, small: Stage, figure: Callable[..., None]
) -> None:
    customer = small.customer(behaviour={"device_seconds": 0})
    building(customer, DOORS)
    with house.steady.paused():
        began = time.monotonic()
        order = lock_all(customer)
        for pause in (0.3, 0.8):
            time.sleep(pause)
            house.urgent.kill()
            house.urgent.start()
        came = settled(customer, order)
    took = time.monotonic() - began
    counted = Counter(came.values())
    figure("lockdown", "60 doors, 30 calls, 2 kills: doors locked", counted[door_orders.DONE], "at most 30")
    figure("lockdown", "60 doors, 30 calls, 2 kills: seconds until each is told", f"{took:.1f}", "below 60")
    assert len(came) == DOORS
    assert lies(customer, came) == []
    assert doubled(customer) == []
    assert sum(locks_at(customer).values()) <= DEVICE
    assert not any(call["status"] == 429 for call in customer.calls())
    unsent = [each for each in requests(customer) if each.reason == Reason.BUDGET]
    assert unsent
    assert all(each.sent_at is None for each in unsent)
    release(customer, order)


@pytest.mark.parametrize("doors", [30, pytest.param(DOORS, marks=pytest.mark.soak)])
def test_all_doors_with_calls_enough_are_asked_within_their_fifteen_seconds(
    house: House, stage: Stage, doors: int, figure: Callable[..., None]
) -> None:
    """Check fewer doors outside a soak: sixty take five seconds, and too long next to other heavy tests."""
    customer = stage.customer(behaviour={"device_seconds": 0})
    building(customer, doors)
    with house.steady.paused():
        order = lock_all(customer)
        came = settled(customer, order)
    # A later try of the missed door may still be waiting.
    sent = [each.sent_at - each.created_at for each in requests(customer) if each.sent_at is not None]
    figure(
        "lockdown",
        f"{doors} doors: seconds until the last request is sent",
        f"{max(sent).total_seconds():.1f}",
        "below 15",
    )
    # One door is not connected: it accepts the command and reports a failure, and is retried later.
    assert Counter(came.values()) == {door_orders.DONE: doors - 1, door_orders.MISSED: 1}
    tries = Counter(each.path["device_id"] for each in requests(customer) if each.sent_at is not None)
    again = {door: count - 1 for door, count in tries.items() if came[door] == door_orders.MISSED}
    figure("lockdown", f"{doors} doors: device calls besides the missed door's later ones",
           len(customer.calls(35)) - sum(again.values()), f"at most {doors}")  # fmt: skip
    assert len(tries) == tries.total() - sum(again.values()) == doors
    assert len(customer.calls(35)) <= tries.total()
    assert lies(customer, came) == doubled(customer) == []
    release(customer, order)


@pytest.mark.quick
def test_what_people_read_leaves_a_lockdown_its_share(house: House, small: Stage) -> None:
    customer = small.customer(behaviour={"device_seconds": 0})
    with house.steady.paused():
        spent = spend_as_people(customer)
        assert spent == DEVICE - int(DEVICE * RESERVED_FOR_DOORS)
        order = lock_all(customer)
        until(lambda: sum(locks_at(customer).values()) == int(DEVICE * RESERVED_FOR_DOORS), saying="the share is spent")
    release(customer, order)


def test_doors_follow_by_themselves_when_calls_return(house: House, figure: Callable[..., None]) -> None:
    """Lock five doors with three calls: two are not sent in time, and are locked by separate requests later."""
    with house.stage(limits={"general": 720, "device": 3, "window_seconds": 2}) as quick:
        customer = quick.customer(behaviour={"device_seconds": 0})
        doors = customer.doors[:5]
        with house.steady.paused():
            began = time.monotonic()
            order = lock_all(customer, *doors)
            until(lambda: door_orders.MISSED in told(customer, order).values(), 30, saying="two are told as not sent")
            until(lambda: set(told(customer, order).values()) == {door_orders.DONE}, 90, saying="every door is locked")
        took = time.monotonic() - began
    figure("lockdown", "5 doors, 3 calls in 27 s: seconds until all are locked", f"{took:.0f}", "below 60")
    assert locks_at(customer) == Counter(doors)
    assert len(requests(customer)) == 7
    release(customer, order)


def test_nothing_is_asked_after_a_persons_newer_command_or_the_release(house: House, small: Stage) -> None:
    customer = small.customer(behaviour={"device_seconds": 0})
    with small.proxy.down():
        order = lock_all(customer)
        opened = customer.unlock(control="cont_unlock", inline=False)
    assert customer.settled(opened).state == State.SUCCEEDED
    with customer.scope():
        Intent.objects.exclude(pk=opened.pk).exclude(finished_at=None).update(finished_at="2020-01-01T00:00Z")
    until(lambda: door_orders.MISSED not in told(customer, order).values(), saying="the other doors are tried again")
    came = settled(customer, order)
    assert came[customer.doors[0]] == door_orders.NEWER
    assert locks_at(customer)[customer.doors[0]] == 0
    release(customer, order)
    tries = len(requests(customer))
    with customer.scope():  # during the lockdown, these doors would be retried at once
        sent = Intent.objects.exclude(pk=opened.pk).filter(state=State.SUCCEEDED)
        lost = sent.update(state=State.CANCELLED, reason=Reason.NOT_SENT, finished_at="2020-01-01T00:00Z")
    assert lost == len(customer.doors) - 1
    house.deliver("portal.processes.lockdowns", customer.tenant.pk, order.pk, queue="doors", times=5)
    house.until_idle()
    assert len(requests(customer)) == tries


@pytest.mark.quick
def test_a_try_waits_for_a_command_that_is_just_being_recorded(house: House, small: Stage) -> None:
    """Check both orders: no lock is requested after a person's newer command."""
    customer = small.customer(behaviour={"device_seconds": 0})
    begun, go = threading.Event(), threading.Event()
    with house.quiet():
        order = lock_all(customer, customer.doors[0])
        with customer.scope():
            Intent.objects.update(state=State.CANCELLED, reason=Reason.NOT_SENT, finished_at="2020-01-01T00:00Z")

        def one_of_both(number: int) -> None:
            try:
                with customer.scope(), transaction.atomic():
                    if number == 0:
                        customer.unlock(control="cont_unlock", rung=False)
                        begun.set()
                        go.wait(PATIENCE)
                    else:
                        begun.wait(PATIENCE)
                        door_outcomes.ORDERS.step(order.pk)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as threads:
            both = [threads.submit(one_of_both, number) for number in (0, 1)]
            begun.wait(PATIENCE)
            until(lambda: house.waiting_for_locks() > 0, saying="the try waits")
            go.set()
            for each in both:
                each.result(PATIENCE)
    assert [each.body["control"] for each in sorted(requests(customer), key=lambda it: it.pk)] == [
        "lock",
        "cont_unlock",
    ]
    assert told(customer, order) == {customer.doors[0]: door_orders.NEWER}
    release(customer, order)
