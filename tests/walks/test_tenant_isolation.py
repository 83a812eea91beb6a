"""Foreign IDs are answered exactly like missing ones, and no data of another tenant is shown or changed."""

import contextlib
import difflib
import re
from collections.abc import Callable, Iterator

import httpx2
import psycopg
import pytest
from django.db import connection

from portal.base.timers.celery_app import app
from tenants.roles import ROLES
from tests.support.browser import Browser
from tests.support.crawl import PLAIN, Address, addresses_of_tenants
from tests.support.doors import real_doors
from tests.support.in_process_browser import Inside
from tests.support.isolation import Victim, arrivals, furnish, person, print_of, tenant_models, unlocking, url
from tests.support.places import Place

pytestmark = pytest.mark.django_db(transaction=True)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@pytest.fixture
def victim(make: Callable[..., Place]) -> Victim:
    return furnish(make(members=5))


@pytest.fixture
def mine(victim: Victim, make: Callable[..., Place]) -> Place:
    """Return the attackers' tenant, which has no data of the victim."""
    place = make(members=0)
    assert not set(real_doors(place)) & set(victim.doors)
    return place


def gist(answer: httpx2.Response, *named: str) -> tuple[int, str]:
    """Return an answer without what differs between any two: requested IDs, nonces, tokens, times."""
    text = answer.text + answer.headers.get("location", "")
    for name in sorted({*named} - {*PLAIN.values()}, key=len, reverse=True):
        text = text.replace(name, "X")
    text = re.sub(r'CSRFToken": "\w+"', "", text)
    text = re.sub(r'(value|content)="[A-Za-z0-9:_\-\.=]{20,}"', "", text)
    return answer.status_code, re.sub(r"\d\d:\d\d(:\d\d)?", "", text)


def _difference(one: tuple[int, str], other: tuple[int, str]) -> list[str]:
    lines = difflib.unified_diff([str(one[0]), *one[1].split("\n")], [str(other[0]), *other[1].split("\n")], n=0)
    return [line[:200] for line in lines if line[:2] not in ("--", "++", "@@")][:6]


def pairs(address: Address, victim: Victim, most: int) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Return foreign values for the address's parameters, and as many that do not exist."""
    choices = max([len(victim.of(kind)) for kind, _ in address.parameters], default=0)
    for number in range(min(choices, most)):
        foreign, missing = {}, {}
        for kind, name in address.parameters:
            if kind in PLAIN:
                foreign[name] = missing[name] = PLAIN[kind]
                continue
            choice = victim.of(kind)
            foreign[name] = choice[number % len(choice)]
            missing[name] = "2147483000" if kind == "int" else f"nobody{number}"
        yield foreign, missing


def walk(mine: Place, victim: Victim, browser: Browser, methods: tuple[str, ...], most: int) -> dict[str, int]:
    """Request all foreign things in every way, `most` IDs at each place. Return what leaked or differed."""
    found = {"requests": 0, "leaks": 0, "unlike a missing one": 0}

    def ask(method: str, path: str, values: dict[str, str]) -> httpx2.Response:
        found["requests"] += 1
        data = {"nonce": "", "control": "unlock"} | values
        options = {"params": values} if method in ("GET", "OPTIONS") else {"data": data}
        answer = browser.send(method, path, **options)
        if answer.status_code == 302:
            browser.get(url(mine, "members/"))  # shows and removes the message that was left for the next page
        told = answer.text
        for value in (*values.values(), path):  # fields and links repeat the requested values
            told = told.replace(value, "")
        if any(word in told for word in victim.words):
            found["leaks"] += 1
            print("leaks:", method, path, values)
        return answer

    for address in addresses_of_tenants():
        for method in methods:
            own = address.path(mine.tenant.slug, {name: "1" for _, name in address.parameters})
            theirs = address.path(victim.place.tenant.slug, {name: "1" for _, name in address.parameters})
            nobodys = address.path("t-nobody", {name: "1" for _, name in address.parameters})
            like_theirs = gist(ask(method, theirs, {}), victim.place.tenant.slug, theirs)
            like_nobodys = gist(ask(method, nobodys, {}), "t-nobody", nobodys)
            if like_theirs != like_nobodys:
                found["unlike a missing one"] += 1
                print("differs:", method, theirs, *_difference(like_theirs, like_nobodys))
            for foreign, missing in pairs(address, victim, most):
                there, nowhere = address.path(mine.tenant.slug, foreign), address.path(mine.tenant.slug, missing)
                one = gist(ask(method, there, {}), there, *foreign.values())
                other = gist(ask(method, nowhere, {}), nowhere, *missing.values())
                if one != other:
                    found["unlike a missing one"] += 1
                    print("differs:", method, there, *_difference(one, other))
            if not address.parameters:  # IDs in the query or the body
                texts = {"member_id": victim.of("str")[1], "membergroup_id": victim.of("str")[2],
                         "group": victim.of("str")[2], "device_id": victim.of("str")[0],
                         "tenant": victim.place.tenant.slug, "after": victim.of("str")[1]}  # fmt: skip
                ask(method, own, texts)
    return found


def attack(mine: Place, victim: Victim, roles: list[str], methods: tuple[str, ...], most: int = 10) -> dict[str, int]:
    total: dict[str, int] = {}
    before, calls = print_of(victim.place), len(victim.place.calls())
    for role in roles:
        with Inside(person(mine, role)) as browser:
            browser.get(url(mine))
            for name, count in walk(mine, victim, browser, methods, most).items():
                total[name] = total.get(name, 0) + count
    total["changed rows"] = int(print_of(victim.place) != before)
    total["calls to the service"] = len(victim.place.calls()) - calls
    return total


def test_foreign_ids_answer_like_missing_ones(mine: Place, victim: Victim) -> None:
    found = attack(mine, victim, ["owner"], ("GET", "POST"), most=1)
    assert found.pop("requests") > 100
    assert set(found.values()) == {0}, found


def test_tasks_with_a_mismatched_tenant_do_nothing(mine: Place, victim: Victim) -> None:
    place = victim.place
    app.loader.import_default_modules()
    intent = unlocking(place, victim.doors[1])
    tasks = [task for name, task in app.tasks.items()
             if name.startswith("portal.") and "intent" in name and "sweep" not in name]  # fmt: skip
    assert len(tasks) >= 3
    before = print_of(place)
    for task in tasks:
        for tenant in (mine.tenant.pk, 2_147_483_000):
            task.apply((tenant, intent.pk))
    assert print_of(place) == before
    assert arrivals(place) == []
    for task in tasks:  # with its own tenant each of them may work on it
        task.apply((place.tenant.pk, intent.pk))
    assert len(arrivals(place)) == 1


def test_row_security_alone_hides_everything(mine: Place, victim: Victim) -> None:
    """Check with SQL, past managers and views, with the other tenant entered, or none."""
    assert leaks_past_the_code(mine, victim) == 0


def leaks_past_the_code(mine: Place, victim: Victim) -> int:
    tenant, leaks = victim.place.tenant.pk, 0
    params = connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}
    with psycopg.connect(**params) as direct:
        for entered in (str(mine.tenant.pk), ""):
            direct.execute("SELECT set_config('portal.tenant', %s, false)", (entered,))
            for model in tenant_models():
                table = model._meta.db_table
                seen = direct.execute(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", (tenant,)).fetchone()
                leaks += (seen or (0,))[0]
                for write in (f"UPDATE {table} SET tenant_id = tenant_id", f"DELETE FROM {table}"):
                    with contextlib.suppress(psycopg.errors.InsufficientPrivilege), direct.transaction():
                        leaks += direct.execute(f"{write} WHERE tenant_id = %s", (tenant,)).rowcount
        direct.rollback()
    return leaks


@pytest.mark.soak
def test_every_address_method_and_role(mine: Place, victim: Victim, figure: Callable[..., None]) -> None:
    roles = [role.name for role in ROLES]
    found = attack(mine, victim, roles, METHODS)
    requests = found.pop("requests")
    for what, count in found.items():
        figure("tenant isolation", f"{requests} requests, {len(roles)} roles: {what}", count, "0")
    leaks = leaks_past_the_code(mine, victim)
    figure("tenant isolation", "rows seen or changed past row security alone", leaks, "0")
    assert set(found.values()) == {0}
    assert leaks == 0
