"""Call budget: 720 and 180 calls an hour, shared by many workers, never exceeded; some are always left for doors."""

import time
from collections import Counter
from collections.abc import Callable

import pytest

from accessapi.errors import RateLimited, ServiceError
from portal.domain.budget.client import client
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import MAX_SHARE_FOR_SYNC, RESERVED_FOR_DOORS, Priority
from portal.domain.budget.quota import quota_of
from tests.support import faults
from tests.support.house import House, together
from tests.support.stage import Customer, Stage

GENERAL, DEVICE = 60, 20


def hammer(
    customer: Customer,
    operation: str,
    priority: Priority,
    *,
    workers: int,
    seconds: float,
    patience: int = 10**6,
) -> Counter[str]:
    """Run workers that call as fast as they may, each until it was held back `patience` times; count the outcomes."""
    path = {"device_id": customer.doors[0]} if operation == "pass_controller_status" else {}
    end = time.monotonic() + seconds

    def work(_: int) -> Counter[str]:
        found: Counter[str] = Counter()
        with customer.scope():
            connection = customer.connection()
            while time.monotonic() < end and found["held back"] < patience:
                try:
                    with client(connection, priority) as service:
                        service.call(operation, path=path)
                    found["answered"] += 1
                except BudgetExhausted:
                    found["held back"] += 1
                    time.sleep(0.1)
                except RateLimited:
                    found["429"] += 1
                except ServiceError as error:
                    found[type(error).__name__] += 1
        return found

    return sum(together(work, workers), Counter())


def refused(customer: Customer) -> int:
    return sum(call["status"] == 429 for call in customer.calls())


def test_many_workers_never_cause_a_429_and_leave_the_doors_share(house: House, stage: Stage) -> None:
    limits = {"general": GENERAL, "device": DEVICE, "window_seconds": 3600}
    with house.stage(limits=limits) as small:
        customer = small.customer()
        with house.quiet():
            people = hammer(customer, "get_tenant", Priority.PEOPLE, workers=8, seconds=20, patience=3)
            status = hammer(customer, "pass_controller_status", Priority.PEOPLE, workers=4, seconds=20, patience=3)
        assert refused(customer) == 0
        assert people["answered"] == GENERAL - int(GENERAL * RESERVED_FOR_DOORS)
        assert status["answered"] == DEVICE - int(DEVICE * RESERVED_FOR_DOORS)
        # All other calls are held back, and a door still opens.
        row = customer.settled(customer.unlock())
        assert (row.state, len(customer.arrivals())) == ("succeeded", 1)


@pytest.mark.quick
def test_sync_keeps_to_its_quarter(house: House) -> None:
    with house.stage(limits={"general": GENERAL, "device": DEVICE, "window_seconds": 3600}) as small:
        customer = small.customer()
        with house.quiet():
            sync = hammer(customer, "get_tenant", Priority.SYNC, workers=4, seconds=20, patience=3)
        assert sync["answered"] <= int(GENERAL * MAX_SHARE_FOR_SYNC)
        assert refused(customer) == 0


def test_a_429_that_others_caused_stops_us_until_its_reset(house: House, stage: Stage) -> None:
    customer = stage.customer()
    stage.proxy.on("GET /v1/tenant", faults.answer(429, x_rate_limit_reset="3", x_rate_limit_limit="720",
                                                   x_rate_limit_remaining="0"), times=1)  # fmt: skip
    with house.quiet():
        found = hammer(customer, "get_tenant", Priority.PEOPLE, workers=1, seconds=2)
    assert found["429"] == 1
    assert found["answered"] == 0


@pytest.mark.parametrize(
    "lies",
    [
        {"x_rate_limit_limit": None, "x_rate_limit_remaining": None},
        {"x_rate_limit_limit": "99999999", "x_rate_limit_remaining": "99999999"},
        {"x_rate_limit_limit": "-1", "x_rate_limit_remaining": "-5"},
        {"x_rate_limit_limit": "NaN", "x_rate_limit_remaining": "lots"},
    ],
)
@pytest.mark.quick
def test_missing_or_lying_headers_never_raise_the_count(house: House, lies: dict[str, str | None]) -> None:
    with house.stage(limits={"general": 20, "device": 10, "window_seconds": 3600}) as small:
        small.proxy.on("GET", faults.headers(**lies))
        customer = small.customer()
        with house.quiet():
            found = hammer(customer, "get_tenant", Priority.PEOPLE, workers=4, seconds=20, patience=3)
        assert (found["429"], refused(customer)) == (0, 0)
        assert found["answered"] == 18


@pytest.mark.quick
def test_others_calls_are_believed(house: House, stage: Stage) -> None:
    """Let the service report fewer calls left than we counted, as if another program had used the token."""
    customer = stage.customer()
    stage.proxy.on("GET", faults.headers(x_rate_limit_remaining="100"), times=1)
    with customer.scope(), client(customer.connection(), Priority.PEOPLE) as service:
        service.call("get_tenant")
        assert quota_of(customer.connection()).general.remaining == 100
        # Its next report is used as well: calls of others no longer count when the report shows this.
        service.call("get_tenant")
        said = quota_of(customer.connection()).general
        assert said.limit - said.remaining < 20


@pytest.mark.soak
def test_twenty_workers_for_three_windows(house: House, figure: Callable[..., None]) -> None:
    """Use 720 and 180 calls in a window of half a minute, as fast as 20 workers can, while doors are opened."""
    limits = {"general": 720, "device": 180, "window_seconds": 30}
    with house.stage(limits=limits) as small:
        customer = small.customer()
        asker = customer.asker()
        opened = 0

        def work(number: int) -> Counter[str]:
            nonlocal opened
            if number == 20:
                for door in customer.doors * 2:
                    row = customer.settled(customer.unlock(door, by=asker), 20)
                    opened += row.state == "succeeded"
                    time.sleep(3)
                return Counter()
            operation = "pass_controller_status" if number % 4 == 0 else "get_tenant"
            priority = (Priority.PEOPLE, Priority.JOBS, Priority.SYNC)[number % 3]
            return hammer(customer, operation, priority, workers=1, seconds=100)

        found = sum(together(work, 21), Counter())
        figure("call budget", "20 workers, 720 and 180: self-caused 429", refused(customer), "0")
        figure("call budget", "calls answered meanwhile", found["answered"], "more than 1,000")
        clicks = 2 * len(customer.doors)
        figure("call budget", "doors opened while others were held back", f"{opened} of {clicks}", "all")
        assert refused(customer) == 0
        assert opened == clicks


@pytest.mark.soak
def test_a_429_storm(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    customer = stage.customer()
    with stage.proxy.during("GET", faults.answer(429, x_rate_limit_reset="5")):
        found = hammer(customer, "get_tenant", Priority.PEOPLE, workers=20, seconds=20)
    figure("call budget", "429 storm of 20 s, reset 5 s: calls made by 20 workers", found["429"], "at most 100")
    assert found["429"] <= 100
