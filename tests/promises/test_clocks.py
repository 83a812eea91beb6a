"""Two clocks (beat processes): they start each round once, and when one is killed or paused the other continues."""

import time
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from portal.domain.intents import actions
from portal.domain.intents.models import Intent, State
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from portal.domain.intents.tasks import CHECK_SECONDS
from tenants.roles import Permission
from tests.support.house import House, Process
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

SECONDS = 3.0


@pytest.fixture
def clocks(house: House) -> Iterator[list[Process]]:
    """Yield the leading clock, and the other."""
    second = Process(house.programs(PGAPPNAME="second clock").beat("second beat"))
    second.start()
    sessions = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'second clock' AND query LIKE '%timers_lease%'"
    until(lambda: house.sql(sessions), saying="it looks at the lease")
    yield sorted([house.beat, second], key=lambda each: not leads(house, each))
    second.stop()


@pytest.fixture
def customer(stage: Stage) -> Customer:
    return stage.customer()


def leads(house: House, clock: Process) -> bool:
    ((host,),) = house.sql("SELECT host FROM timers_lease WHERE holder IS NOT NULL") or [("",)]
    assert clock.child is not None
    return str(host).endswith(f" {clock.child.pid}")


def group(customer: Customer, name: str) -> Intent:
    """Request a member group without notifying a worker: only a clock can start the work."""
    asker = customer.asker()
    with customer.scope(), patch("portal.base.timers.celery_app.enqueue"):
        return actions.submit(
            Command(
                permission=Permission.GROUPS_EDIT,
                operation="create_membergroup",
                title=name,
                body={"membergroup_name": name},
            ),
            inline=False,
            by=asker,
            nonce=Nonce(f"{customer.slug}-{name}"),
        )


def is_done(customer: Customer, intent: Intent) -> bool:
    with customer.scope():
        return Intent.objects.filter(pk=intent.pk, state=State.SUCCEEDED).exists()


def rings(house: House, customer: Customer) -> tuple[int, float]:
    """Count the sweeps started while one is due and no worker takes it; add the maximum for a single clock."""
    with house.urgent.paused(), house.steady.paused():
        intent = group(customer, "waiting")
        began = time.monotonic()
        until(lambda: time.monotonic() > began + SECONDS, saying="some time has passed")
        rung = int(house.redis().llen("doors"))
        most = (time.monotonic() - began) / CHECK_SECONDS + 2
    until(lambda: is_done(customer, intent), saying="it is done")
    return rung, most


@pytest.mark.quick
def test_two_clocks_ring_as_one_and_a_killed_one_is_followed(
    house: House, customer: Customer, clocks: list[Process]
) -> None:
    leader, other = clocks
    rung, most = rings(house, customer)
    assert 0 < rung <= most
    leader.kill()
    house.until_idle()  # all rounds that it started before its end are done
    intent = group(customer, "after the kill")
    until(lambda: is_done(customer, intent), saying="the other clock rings")
    assert leads(house, other)


def test_a_clock_that_stood_still_does_not_ring_beside_its_successor(
    house: House, customer: Customer, clocks: list[Process]
) -> None:
    leader, other = clocks
    with leader.paused():
        until(lambda: leads(house, other), saying="the other leads")
        intent = group(customer, "meanwhile")
        until(lambda: is_done(customer, intent), saying="the other clock rings")
    rung, most = rings(house, customer)
    assert 0 < rung <= most
    assert leads(house, other)
