"""Rate limits: calls resume at the service's reset time, doors first. The portal causes no 429 and no pause."""

import secrets
from collections.abc import Callable

import pytest

from portal.domain.budget.client import client
from portal.domain.budget.priorities import Priority
from portal.domain.intents import actions
from portal.domain.intents.recording import Command
from tenants.models import Connection
from tenants.roles import Permission
from tests.promises.test_call_budget import hammer, refused
from tests.support import faults
from tests.support.house import House
from tests.support.places import fresh_nonce
from tests.support.stage import Customer, Stage
from tests.support.waiting import until


def limits_of(customer: Customer, **limits: int) -> Customer:
    """Set these limits at the service only."""
    customer.house.sandbox.settings(customer.service.tenant_id, **limits)
    return customer


def renamed(customer: Customer, name: str):
    """Request a person's change, which is left to a worker."""
    group = customer.house.sandbox.api("GET", "/v1/membergroups", token=customer.service.token).json()["membergroups"][
        0
    ]
    with customer.scope():
        return actions.submit(
            Command(
                permission=Permission.GROUPS_EDIT,
                operation="update_membergroup",
                path={"membergroup_id": group["membergroup_id"]},
                body={"membergroup_name": name},
                target=f"group:{secrets.token_hex(4)}",
                title=name,
            ),
            by=customer.asker(),
            nonce=fresh_nonce(),
            inline=False,
        )


@pytest.mark.quick
def test_a_service_with_a_lower_limit_is_used_in_full_and_never_refuses(house: House, stage: Stage) -> None:
    customer = limits_of(stage.customer(), general_limit=40)
    with house.quiet():
        found = hammer(customer, "get_tenant", Priority.PEOPLE, workers=4, seconds=20, patience=3)
        doors = hammer(customer, "get_tenant", Priority.DOORS, workers=4, seconds=20, patience=3)
    assert (found["answered"], doors["answered"], refused(customer)) == (36, 4, 0)


@pytest.mark.quick
def test_a_service_with_a_higher_limit_is_used_beyond_the_configured_one(house: House) -> None:
    with house.stage(limits={"general": 20, "device": 10, "window_seconds": 3600}) as small:
        customer = limits_of(small.customer(), general_limit=60)
        with house.quiet():
            found = hammer(customer, "get_tenant", Priority.PEOPLE, workers=4, seconds=20, patience=3)
    assert (found["answered"], refused(customer)) == (54, 0)


def test_a_door_opens_at_the_reset_that_the_service_names(house: House, stage: Stage) -> None:
    customer = stage.customer()
    none_left = faults.answer(429, x_rate_limit_limit="180", x_rate_limit_remaining="0", x_rate_limit_reset="2")
    stage.proxy.on("POST /v1/devices/passes/", none_left, times=1)
    row = customer.settled(customer.unlock())
    assert (row.state, len(customer.arrivals())) == ("succeeded", 1)


def test_work_that_waited_for_calls_goes_on_with_a_new_token(house: House, stage: Stage) -> None:
    customer = stage.customer()
    stage.proxy.on("GET /v1/tenant", faults.headers(x_rate_limit_remaining="0", x_rate_limit_reset="3000"), times=1)
    with customer.scope(), client(customer.connection(), Priority.PEOPLE) as service:
        service.call("get_tenant")
    waiting = renamed(customer, "営業部")
    until(lambda: customer.intent(waiting).reason == "budget", saying="the change waits for calls")
    token = house.sandbox.token(customer.service.tenant_id, client_id=stage.client.client_id)
    with customer.scope():
        row = Connection.objects.get()
        row.access_token, row.token_generation = token, row.token_generation + 1
        row.save()
    assert customer.settled(waiting).state == "succeeded"


@pytest.mark.soak
@pytest.mark.parametrize("reset", ["1", "5", None])
def test_storms_with_any_reset(house: House, stage: Stage, figure: Callable[..., None], reset: str | None) -> None:
    customer = stage.customer()
    with stage.proxy.during("GET", faults.answer(429, x_rate_limit_reset=reset, x_rate_limit_remaining="0")):
        during = hammer(customer, "get_tenant", Priority.DOORS, workers=20, seconds=10)
    after = hammer(customer, "get_tenant", Priority.DOORS, workers=20, seconds=8)
    figure(
        "rate limits", f"20 callers in a storm of 429, reset {reset or 'not named'}: calls refused", during["429"], "-"
    )
    figure(
        "rate limits", f"the same afterwards, reset {reset or 'not named'}: calls answered", after["answered"], "> 100"
    )
    assert after["answered"] > 100
    if reset:
        assert during["429"] <= 20 + 10 / int(reset) + 5
