"""Sign-in works while the broker is away, and one person's wrong passwords never lock another person out."""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator

import pytest

from portal.domain.intents.models import State
from tenants.models import User
from tests.support.browser import Browser, gist
from tests.support.effort import one_in
from tests.support.house import House
from tests.support.stage import PASSWORD, Customer, Stage

LOCKED = "Too many wrong attempts. Wait five minutes, or use a passkey."
# A request that waits for nothing takes a few hundredths. An attempt to reach the broker took five seconds and more.
PATIENCE = 2.0


@contextlib.contextmanager
def stopped(house: House) -> Iterator[None]:
    with house.paused_broker():
        yield


@contextlib.contextmanager
def killed(house: House) -> Iterator[None]:
    house.kill_broker()
    yield
    house.restart_broker()


AWAY = {"stopped": stopped, "killed": killed}


class Timed:
    """Makes requests, and records how long the slowest took."""

    def __init__(self) -> None:
        self.slowest = (0.0, "")

    def __call__(self, browser: Browser, method: str, path: str, **values: str) -> int:
        began = time.monotonic()
        answer = browser.get(path) if method == "GET" else browser.post(path, values)
        self.slowest = max(self.slowest, (time.monotonic() - began, path))
        assert answer.status_code < 500, (path, gist(answer))
        return answer.status_code


def a_days_work(customer: Customer, timed: Timed) -> None:
    """Sign in, confirm the identity, look at pages, open a guest's link, unlock a door."""
    guard = customer.staff("guard")
    door = customer.doors[0]
    with Browser(customer.house.url) as browser:
        assert timed(browser, "GET", "/accounts/login/") == 200
        assert timed(browser, "POST", "/accounts/login/", login=guard.email, password=PASSWORD) == 302
        assert timed(browser, "POST", "/accounts/reauthenticate/", password=PASSWORD) == 302
        assert timed(browser, "GET", customer.url("devices/")) == 200
        assert timed(browser, "GET", f"/g/{secrets.token_urlsafe(24)}/") == 404
        form = browser.form(customer.url(f"devices/{door}/"), "command")
        assert timed(browser, "POST", form.action, **form.values, control="unlock") == 302


@pytest.mark.parametrize("how", one_in(2, AWAY))
def test_a_days_work_without_the_broker(house: House, stage: Stage, how: str) -> None:
    customer = stage.customer()
    usual, timed = Timed(), Timed()
    a_days_work(customer, usual)
    with AWAY[how](house):
        for _ in range(2):
            a_days_work(customer, timed)
    assert len(customer.arrivals()) == 3
    assert timed.slowest[0] < PATIENCE + 3 * usual.slowest[0], timed.slowest


def test_work_that_is_left_to_workers_is_recorded_at_once(house: House, stage: Stage) -> None:
    """Check that a lost notification does not slow the page down, and that the work is done when the broker is back."""
    customer = stage.customer()
    usual, timed = Timed(), Timed()
    with customer.browser("owner") as browser:
        assert usual(browser, "POST", customer.url("mirror/refresh/groups/")) == 302
        with stopped(house):
            for _ in range(5):
                assert timed(browser, "POST", customer.url("mirror/refresh/groups/")) == 302
            intent = customer.unlock()
        assert timed.slowest[0] < PATIENCE + 3 * usual.slowest[0], timed.slowest
    assert customer.settled(intent).state in (State.SUCCEEDED, State.EXPIRED)


def guess(house: House, user: User, times: int, password: str = "wrong") -> str:
    """Try so many wrong passwords for one account, in a new browser; return the text of the last answer."""
    with Browser(house.url) as browser:
        browser.get("/accounts/login/")
        for _ in range(times):
            answer = browser.post("/accounts/login/", login=user.email, password=password)
            assert answer.status_code == 422
        return gist(answer, 2000)


def signs_in(house: House, user: User) -> bool:
    with Browser(house.url) as browser:
        browser.get("/accounts/login/")
        return browser.post("/accounts/login/", login=user.email, password=PASSWORD).status_code == 302


@pytest.mark.quick
def test_ten_wrong_passwords_from_the_proxys_address_keep_nobody_else_out(house: House, stage: Stage) -> None:
    """Configure no proxy, so that all people have one address, the attacker and the staff."""
    customer = stage.customer()
    victim, others = customer.staff("owner"), [customer.staff("receptionist") for _ in range(3)]
    with customer.browser(victim) as own:
        own.post("/accounts/logout/")
        assert LOCKED in guess(house, victim, 10)
        assert LOCKED in guess(house, victim, 1, PASSWORD), "the guesser is out, whatever comes next"
        assert all(signs_in(house, other) for other in others)
        own.sign_in(victim.email, PASSWORD)


@pytest.mark.soak  # tests/tenants/test_sign_in.py tests this for each client's address
def test_failures_of_many_accounts_keep_nobody_out(house: House, stage: Stage) -> None:
    customer = stage.customer()
    people = [customer.staff("receptionist") for _ in range(7)]
    for person in people[:-1]:
        guess(house, person, 2)
    assert all(signs_in(house, person) for person in people)


@pytest.mark.soak
def test_a_long_absence(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    for how, away in AWAY.items():
        customer = stage.customer()
        timed, days = Timed(), 0
        with away(house):
            until = time.monotonic() + 60
            while time.monotonic() < until and days < 100:
                a_days_work(customer, timed)
                days += 1
        said = f"broker {how} for a minute, {days} times signed in and unlocked: slowest request"
        figure("sign-in", said, f"{timed.slowest[0]:.2f} s", f"under {PATIENCE} s")
        assert len(customer.arrivals()) == days
        assert timed.slowest[0] < PATIENCE
