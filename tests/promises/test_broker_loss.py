"""Broker loss: Redis only notifies workers. If it forgets or refuses messages, all work is still in PostgreSQL."""

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest

from portal.domain.budget.priorities import Priority
from portal.domain.intents import actions
from portal.domain.intents.models import Intent, State
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from tenants.roles import Permission
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

Loss = Callable[[House], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def flushed(house: House) -> Iterator[None]:
    with house.redis() as redis:
        redis.flushall()
    yield


@contextlib.contextmanager
def killed(house: House) -> Iterator[None]:
    house.kill_broker()
    yield
    house.restart_broker()


@contextlib.contextmanager
def paused(house: House) -> Iterator[None]:
    with house.paused_broker():
        yield


LOSSES: dict[str, Loss] = {"FLUSHALL": flushed, "kill -9": killed, "pause": paused}


def groups(customer: Customer, names: list[str]) -> list[Intent]:
    """Request new member groups, left to the workers. A lost or doubled creation would be visible."""
    asker = customer.asker()
    with customer.scope():
        return [
            actions.submit(
                Command(
                    permission=Permission.GROUPS_EDIT,
                    operation="create_membergroup",
                    title=name,
                    body={"membergroup_name": name},
                    priority=Priority.PEOPLE,
                ),
                inline=False,
                by=asker,
                nonce=Nonce(f"{customer.slug}-{name}"),
            )
            for name in names
        ]


def group_names(customer: Customer) -> list[str]:
    found = customer.house.sandbox.api("GET", "/v1/membergroups", token=customer.service.token, params={"limit": 1000})
    return sorted(each["membergroup_name"] for each in found.json()["membergroups"])


def lose(house: House, customer: Customer, loss: Loss, *, count: int, away: float) -> float:
    """Submit work before and during the loss. Return the seconds from the broker's return until all work is done.

    The work must be done exactly once.
    """
    before = group_names(customer)
    names = [f"before {n}" for n in range(count)] + [f"during {n}" for n in range(count)]
    intents = groups(customer, names[:count])
    with loss(house):
        intents += groups(customer, names[count:])
        time.sleep(away)
    back = time.monotonic()
    with customer.scope():
        ids = [intent.pk for intent in intents]
        undone = Intent.objects.filter(pk__in=ids).exclude(state=State.SUCCEEDED)
        until(lambda: not undone.exists(), saying="all work is done")
    took = time.monotonic() - back
    assert group_names(customer) == sorted(before + names)
    return took


@pytest.mark.parametrize("name", [pytest.param("kill -9", marks=pytest.mark.quick), "FLUSHALL", "pause"])
def test_work_resumes_and_nothing_is_lost(house: House, stage: Stage, name: str) -> None:
    took = lose(house, stage.customer(), LOSSES[name], count=4, away=1.0)
    assert took < 30


@pytest.mark.soak
@pytest.mark.parametrize("name", LOSSES)
def test_loss_at_each_step(house: House, stage: Stage, figure: Callable[..., None], name: str) -> None:
    """Lose the broker before any work was taken, in the middle, while workers are away, and for half a minute."""
    customer = stage.customer(behaviour={"request_latency": 0.2})
    worst = 0.0
    for away in (0.0, 0.5, 5.0, 30.0):
        worst = max(worst, lose(house, stage.customer(), LOSSES[name], count=20, away=away))
    with house.urgent.paused(), LOSSES[name](house):
        asked = groups(customer, [f"g{n}" for n in range(20)])
        time.sleep(2)
    back = time.monotonic()
    with customer.scope():
        rows = Intent.objects.filter(pk__in=[intent.pk for intent in asked]).exclude(state=State.SUCCEEDED)
        until(lambda: not rows.exists(), 60)
    worst = max(worst, time.monotonic() - back)
    figure("broker loss", f"{name}: seconds until work resumed and was done, worst", f"{worst:.1f}", "at most 30")
    figure("broker loss", f"{name}: pieces of work lost or doubled of 180", 0, "0")
    assert worst < 30
