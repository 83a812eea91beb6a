"""Held doors: a hold ends with one lock command, even if processes are killed; never early or after a newer command."""

import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.devices import actions
from portal.devices.actions import DoorCommand
from portal.devices.models import Hold
from portal.domain.intents.models import Intent
from portal.domain.intents.nonces import Nonce
from portal.domain.places.models import PassController
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

_DONE = (Hold.State.ENDED, Hold.State.SUPERSEDED, Hold.State.FAILED)


def ask(customer: Customer, door: str, command: DoorCommand = DoorCommand.HOLD, *, seconds: float = 0) -> Intent:
    """Do what the door's page does; a hold ends so many seconds from now."""
    asker = customer.asker()
    with customer.scope():
        end = database_now() + timedelta(seconds=seconds) if seconds else None
        row = PassController.objects.get(device_id=door)
        return actions.send_command(
            door=row, command=command, by=asker, nonce=Nonce(secrets.token_urlsafe(12)), until=end
        )


def hold_of(customer: Customer, intent: Intent) -> Hold:
    with customer.scope():
        return Hold.objects.get(unlock=intent)


def over(customer: Customer, intent: Intent, seconds: float = 90) -> Hold:
    """Wait until a hold is over."""
    until(
        lambda: hold_of(customer, intent).state in _DONE,
        seconds,
        saying=lambda: f"the hold is over ({hold_of(customer, intent).state})",
    )
    return hold_of(customer, intent)


def locks(customer: Customer, door: str) -> list[datetime]:
    return [datetime.fromisoformat(each["at"]) for each in customer.arrivals(door, control="lock")]


def wrong(customer: Customer, holds: dict[str, Intent]) -> list[str]:
    """Return doors that were not locked exactly once after their hold's end."""
    found = []
    for door, intent in holds.items():
        end, arrived = hold_of(customer, intent).ends_at, locks(customer, door)
        assert end is not None
        if len(arrived) != 1 or arrived[0] < end:
            found.append(f"{door}: until {end}, locked {arrived}")
    return found


def test_every_process_killed_around_the_end_and_each_door_is_locked_once(
    house: House, stage: Stage, figure: Callable[..., None]
) -> None:
    customer = stage.customer(behaviour={"device_seconds": 0})
    holds = {door: ask(customer, door, seconds=4 + number) for number, door in enumerate(customer.doors[:4])}
    until(lambda: all(hold_of(customer, each).state == Hold.State.ACTIVE for each in holds.values()))
    assert not any(locks(customer, door) for door in holds), "nothing is locked before its time"
    with customer.browser() as browser:
        assert "is held unlocked" in browser.get(customer.url("devices/")).text
    began = time.monotonic()
    house.kill_broker()
    house.steady.kill()
    house.steady.start()
    house.restart_broker()
    for _ in range(4):
        time.sleep(0.8)
        house.urgent.kill()
        house.urgent.start()
    states = [over(customer, intent).state for intent in holds.values()]
    figure(
        "held doors",
        "4 holds, broker and every worker killed: locked once",
        4 - len(wrong(customer, holds)),
        "all of 4",
    )
    figure(
        "held doors",
        "the same: seconds from the first kill to the last lock",
        f"{time.monotonic() - began:.1f}",
        "below 60",
    )
    assert wrong(customer, holds) == []
    assert set(states) == {Hold.State.ENDED}
    with customer.browser() as browser:
        until(lambda: "is held unlocked" not in browser.get(customer.url("devices/")).text, saying="the banner is gone")


@pytest.mark.quick
def test_a_newer_command_while_nobody_works_is_the_last_word(house: House, stage: Stage) -> None:
    """End the hold while workers are away. Before they return, a person requests that the door stays as it is."""
    customer = stage.customer(behaviour={"device_seconds": 0})
    held, locked = customer.doors[:2]
    first = {door: ask(customer, door, seconds=3) for door in (held, locked)}
    until(lambda: all(hold_of(customer, each).state == Hold.State.ACTIVE for each in first.values()))
    with house.urgent.paused(), house.steady.paused():
        ends = [hold_of(customer, each).ends_at for each in first.values()]
        until(lambda: database_now() > max(end for end in ends if end is not None), saying="the holds should end")
        longer = ask(customer, held, seconds=600)
        ask(customer, locked, DoorCommand.LOCK)
    assert {over(customer, each).state for each in first.values()} == {Hold.State.SUPERSEDED}
    until(lambda: hold_of(customer, longer).state == Hold.State.ACTIVE)
    for intent in first.values():  # as more rounds of the timer would
        pk = hold_of(customer, intent).pk
        house.deliver("portal.processes.holds", customer.tenant.pk, pk, queue="doors", times=2)
    house.until_idle()
    assert (len(locks(customer, held)), len(locks(customer, locked))) == (0, 1)


@pytest.mark.soak
def test_twenty_rounds_of_kills_at_any_moment(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    customer = stage.customer(behaviour={"device_seconds": 0})
    faults = 0
    for round_number in range(20):
        holds = {door: ask(customer, door, seconds=3) for door in customer.doors[:4]}
        until(lambda held=holds: all(hold_of(customer, each).state != Hold.State.REQUESTED for each in held.values()))
        before = {door: len(locks(customer, door)) for door in holds}
        for _ in range(6):
            time.sleep(0.2 + 0.13 * (round_number % 7))
            house.urgent.kill()
            house.urgent.start()
        for intent in holds.values():
            over(customer, intent)
        faults += sum(len(locks(customer, door)) - before[door] != 1 for door in holds)
    figure("held doors", "80 holds, workers killed 120 times: not locked exactly once", faults, 0)
    assert faults == 0
