"""Bad input: never a 500, and never a call to the service that breaks its limits.

Fields at their limits, and bad answers of the service: tests/ui/test_answers_and_bounds.py.
"""

import random
from collections import Counter
from collections.abc import Callable

import httpx2
import pytest

from portal.domain.history.filters import FILTERS
from tests.support.browser import Browser, gist
from tests.support.crawl import Address, addresses_of_tenants
from tests.support.extremes import BODIES, NASTY
from tests.support.house import House
from tests.support.stage import PASSWORD, Customer, Stage

FIELDS = (
    "q", "sort", "page", "after", "before", "size", "group", "control", "nonce", "elapsed", "member_name", "name",
    "member_code", "membergroup_id", "membergroup_name", "card_data", "file", "applied", "decision", "format", "fields",
    "lang", "use_date_start", "use_date_end", "columns", "default_group", "role", "email", "reason", "minutes",
    "confirm", "state", *(each.name for each in FILTERS), "query", "kind", "day", "next", "at", "month", "since",
    "began_at", "ended_at", "json",
)  # fmt: skip
METHODS = ("GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")


def storm(browser: Browser, customer: Customer, count: int, seed: int) -> tuple[Counter[int], list[str]]:
    """Send so many generated requests, the same for the same seed; return the statuses, and details of 5xx answers."""
    chance = random.Random(seed)
    # Addresses that would end the session or the tenant's connection are left out: later requests would reach nothing.
    addresses = [each for each in addresses_of_tenants() if not each.route.endswith(("revoke/", "reissue/"))]
    statuses: Counter[int] = Counter()
    broken: list[str] = []
    for _ in range(count):
        address = chance.choice(addresses)
        method = chance.choice(METHODS)
        path = _path(chance, customer, address)
        values = {name: _value(chance) for name in chance.sample(FIELDS, chance.randint(0, 6))}
        try:
            try:
                answer = _send(browser, chance, method, path, values)
            except httpx2.RemoteProtocolError:  # a kept connection that the server has just closed: use a new one
                answer = _send(browser, chance, method, path, values)
        except (httpx2.InvalidURL, httpx2.LocalProtocolError, UnicodeEncodeError):
            continue  # a browser could not send it either
        statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            broken.append(f"{method} {path[:120]} {str(values)[:200]} -> {answer.status_code} {gist(answer, 80)}")
    return statuses, broken


def _path(chance: random.Random, customer: Customer, address: Address) -> str:
    odd = [value for value in NASTY if value and len(value) < 100 and "\ud83d" not in value]
    fitting = {"int": ["1", "0", "9" * 18, "9" * 30], "sid": [customer.doors[0], "nobody", *odd]}
    values = {name: chance.choice(fitting.get(kind, odd)) for kind, name in address.parameters}
    return address.path(
        customer.slug, {k: v.replace("\x00", "%00").replace("\r\n", "%0d%0a") for k, v in values.items()}
    )


def _value(chance: random.Random) -> str:
    return chance.choice(NASTY).encode("utf-8", "replace").decode()


def _send(browser: Browser, chance: random.Random, method: str, path: str, values: dict[str, str]) -> httpx2.Response:
    if method in ("GET", "HEAD", "OPTIONS"):
        return browser.send(method, path, params={k: v[:3000] for k, v in values.items()})
    kind = chance.randint(0, 5)
    if kind == 0:
        return browser.send(method, path, content=chance.choice(BODIES), headers={"Content-Type": "application/json"})
    if kind == 1:
        return browser.send(method, path, files={"file": ("a\x00b.csv", b"\x00\xff" * 50)}, data=values)
    return browser.send(method, path, data=values)


def refused_as_invalid(customer: Customer) -> int:
    return sum(call["status"] == 400 for call in customer.calls())


def attack(house: House, stage: Stage, count: int) -> tuple[Counter[int], list[str], int]:
    customer = stage.customer(members=3, behaviour={"limited": False})
    owner, statuses, broken = customer.staff("owner").email, Counter[int](), list[str]()
    for done in range(0, count, 1_000):  # in an old session, pages only request a proof of identity
        with Browser(house.url) as browser:
            browser.sign_in(owner, PASSWORD)
            some, wrong = storm(browser, customer, min(1_000, count - done), seed=count + done)
        statuses, broken = statuses + some, broken + wrong
    return statuses, broken, refused_as_invalid(customer)


@pytest.mark.quick
def test_generated_requests_break_nothing(house: House, stage: Stage) -> None:
    statuses, broken, invalid = attack(house, stage, 150)
    assert not broken, "\n".join(broken)
    assert invalid == 0
    assert statuses.total() > 100


@pytest.mark.soak
def test_twenty_thousand_requests(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    statuses, broken, invalid = attack(house, stage, 20_000)
    figure("bad input", f"{statuses.total()} generated requests: answers of 500", len(broken), "0")
    figure("bad input", "calls that the service refused as invalid", invalid, "0")
    print("\n".join(broken[:20]))
    assert (broken, invalid) == ([], 0)
