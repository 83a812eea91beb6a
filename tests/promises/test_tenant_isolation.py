"""Tenant isolation: foreign ids answer exactly like missing ones, and nothing of another tenant shows or moves."""

import difflib
import hashlib
import itertools
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import httpx2
import psycopg
import pytest
from django.apps import apps
from django.utils import timezone

from portal.core.intents.models import Intent
from portal.core.intents.states import State
from portal.core.mirror.models import Group, Member, PassController
from portal.core.visits.models import Preset, Visit
from portal.site.celery import app
from tenants.models import Staff, TenantModel, User
from tenants.roles import ROLES
from tests.support.browser import Browser
from tests.support.crawl import Address, addresses_of_tenants
from tests.support.house import House
from tests.support.stage import PASSWORD, Customer, Stage
from tests.support.waiting import until

_starts = itertools.count(1)
#: Parameters that name nothing of a tenant: what a file is written as.
PLAIN = {"picture": "svg", "paper": "badge", "sheet": "csv", "spoken": "en"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass
class Victim:
    """Tenant B, with something of everything, and words that stand nowhere else."""

    customer: Customer
    ids: dict[str, list[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[str]:
        return self.ids["int"] if kind == "int" else self.ids["text"]


def furnish(stage: Stage) -> Victim:
    """A victim with rows in every table that can be filled without a page, under ids that no other table has."""
    _apart(stage.house)
    customer = stage.customer(members=5)
    tenant, mark = customer.tenant, customer.slug.removeprefix("t-")
    owner = customer.staff("owner")
    with stage.house.still():
        intent = customer.unlock(by=customer.asker(owner), rung=False)
        with customer.scope():
            Intent.objects.filter(pk=intent.pk).update(state=State.UNCERTAIN, due_at=None)
    with customer.scope():
        Intent.objects.filter(pk=intent.pk).update(state=State.UNCERTAIN, due_at=None, title=f"secret {mark}")
        Group.objects.create(tenant=tenant, membergroup_id=f"g{mark}", membergroup_name=f"group {mark}",
                             name_key=f"group {mark}")  # fmt: skip
        Member.objects.create(tenant=tenant, member_id=f"m{mark}", member_name=f"person {mark}", name_key=mark)
        PassController.objects.update(device_name=f"door {mark}")
        today = timezone.now()
        visit = Visit.objects.create(tenant=tenant, stage="issued", guest_id=f"v{mark}", guest_name=f"guest {mark}",
                                     name_key=f"guest {mark}", use_date_start=today - timedelta(hours=1),
                                     use_date_end=today + timedelta(hours=8), party=uuid.uuid4())  # fmt: skip
        preset = Preset.objects.create(tenant=tenant, name=f"preset {mark}", minutes=60)
        numbers = {intent.pk, owner.pk, visit.pk, preset.pk, *Staff.objects.values_list("pk", flat=True)}
    _apart(stage.house)
    texts = [customer.doors[0], f"m{mark}", f"g{mark}", f"v{mark}", str(owner.pk), str(intent.pk)]
    return Victim(customer, {"int": [str(n) for n in numbers], "text": texts}, [mark])


def _apart(house: House) -> None:
    """From now on each table counts from a number of its own, so that an id tells whose row it is."""
    start = next(_starts)
    for number, model in enumerate([*_tenant_models(), User], 1):
        house.sql(f"SELECT setval(pg_get_serial_sequence('{model._meta.db_table}', 'id'), %s)",
                  start * 10**8 + number * 10**6)  # fmt: skip


def print_of(house: House, victim: Victim) -> str:
    """A fingerprint of every row of the victim, in every table."""
    digest = hashlib.sha256()
    with psycopg.connect(house.database_url) as direct:
        direct.execute("SET portal.across = 'on'")
        for model in sorted(_tenant_models(), key=lambda model: model._meta.label):
            if model._meta.app_label == "mirror" and "State" in model.__name__:
                continue  # timers of its own sync
            rows = direct.execute(
                f"SELECT t::text FROM {model._meta.db_table} t WHERE tenant_id = %s ORDER BY 1",
                (victim.customer.tenant.pk,),
            )
            digest.update(repr((model._meta.label, rows.fetchall())).encode())
    return digest.hexdigest()


def _tenant_models() -> list[type[TenantModel]]:
    return [model for model in apps.get_models() if issubclass(model, TenantModel)]


def gist(answer: httpx2.Response, *named: str) -> tuple[int, str]:
    """An answer without what differs between any two: ids that were asked for, nonces, tokens, times."""
    text = answer.text + answer.headers.get("location", "")
    for name in sorted(named, key=len, reverse=True):
        text = text.replace(name, "X")
    text = re.sub(r'CSRFToken": "\w+"', "", text)
    text = re.sub(r'(value|content)="[A-Za-z0-9:_\-\.=]{20,}"', "", text)
    return answer.status_code, re.sub(r"\d\d:\d\d(:\d\d)?", "", text)


def _difference(one: tuple[int, str], other: tuple[int, str]) -> list[str]:
    lines = difflib.unified_diff([str(one[0]), *one[1].split("\n")], [str(other[0]), *other[1].split("\n")], n=0)
    return [line[:200] for line in lines if line[:2] not in ("--", "++", "@@")][:6]


def pairs(address: Address, victim: Victim, most: int) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Foreign values for the address's parameters, and as many that nobody has."""
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


def walk(
    house: House, mine: Customer, victim: Victim, browser: Browser, methods: tuple[str, ...], most: int
) -> dict[str, int]:
    """Ask for everything foreign in every way, `most` ids at each place; what leaked or differed from a missing id."""
    found = {"requests": 0, "leaks": 0, "unlike a missing one": 0}

    def ask(method: str, path: str, values: dict[str, str]) -> httpx2.Response:
        found["requests"] += 1
        data = {"nonce": "", "control": "unlock"} | values
        options = {"params": values} if method in ("GET", "OPTIONS") else {"data": data}
        answer = browser.send(method, path, **options)
        if answer.status_code == 302:
            browser.get(mine.url())  # shows and forgets the message that was left for the next page
        told = answer.text
        for value in (*values.values(), path):  # fields and links repeat what was asked
            told = told.replace(value, "")
        if any(word in told for word in victim.words):
            found["leaks"] += 1
            print("leaks:", method, path, values)
        return answer

    for address in addresses_of_tenants():
        for method in methods:
            own = address.path(mine.slug, {name: "1" for _, name in address.parameters})
            theirs = address.path(victim.customer.slug, {name: "1" for _, name in address.parameters})
            nobodys = address.path("t-nobody", {name: "1" for _, name in address.parameters})
            like_theirs = gist(ask(method, theirs, {}), victim.customer.slug, theirs)
            like_nobodys = gist(ask(method, nobodys, {}), "t-nobody", nobodys)
            if like_theirs != like_nobodys:
                found["unlike a missing one"] += 1
                print("differs:", method, theirs, *_difference(like_theirs, like_nobodys))
            for foreign, missing in pairs(address, victim, most):
                there, nowhere = address.path(mine.slug, foreign), address.path(mine.slug, missing)
                one = gist(ask(method, there, {}), there, *foreign.values())
                other = gist(ask(method, nowhere, {}), nowhere, *missing.values())
                if one != other:
                    found["unlike a missing one"] += 1
                    print("differs:", method, there, *_difference(one, other))
            if not address.parameters:  # ids in the query or the body
                texts = {"member_id": victim.of("str")[1], "membergroup_id": victim.of("str")[2],
                         "group": victim.of("str")[2], "device_id": victim.of("str")[0],
                         "tenant": victim.customer.slug, "after": victim.of("str")[1]}  # fmt: skip
                ask(method, own, texts)
    return found


def attack(house: House, stage: Stage, roles: list[str], methods: tuple[str, ...], most: int = 10) -> dict[str, int]:
    victim, mine = furnish(stage), stage.customer()
    total: dict[str, int] = {}
    with house.quiet():
        before, calls = print_of(house, victim), len(victim.customer.calls())
        for role in roles:
            with Browser(house.url) as browser:
                browser.sign_in(mine.staff(role).email, PASSWORD)
                browser.get(mine.url())
                for name, count in walk(house, mine, victim, browser, methods, most).items():
                    total[name] = total.get(name, 0) + count
        total["changed rows"] = int(print_of(house, victim) != before)
        total["calls to the service"] = len(victim.customer.calls()) - calls
    return total


def test_foreign_ids_answer_like_missing_ones(house: House, stage: Stage) -> None:
    found = attack(house, stage, ["owner"], ("GET", "POST"), most=1)
    assert found.pop("requests") > 100
    assert set(found.values()) == {0}, found


def test_tasks_with_a_mismatched_tenant_do_nothing(house: House, stage: Stage) -> None:
    victim, mine = furnish(stage), stage.customer()
    customer = victim.customer
    app.loader.import_default_modules()
    with house.quiet():
        door = customer.unlock(customer.doors[1], rung=False)
        before, delivered = print_of(house, victim), 0
        for name, task in app.tasks.items():
            if name.startswith("portal.") and "intent" in name and "sweep" not in name:
                house.deliver(name, mine.tenant.pk, door.pk, queue=task.queue)
                house.deliver(name, 2_147_483_000, door.pk, queue=task.queue)
                delivered += 2
        assert delivered >= 6
        last = mine.unlock()  # two workers take messages in turn: when this one is through, so are those before
        until(lambda: mine.intent(last).state in (State.ACCEPTED, State.SUCCEEDED), saying="all were worked on")
        assert print_of(house, victim) == before
    assert customer.arrivals() == []


def test_row_security_alone_hides_everything(house: House, stage: Stage) -> None:
    """Raw SQL, past managers and views, with the other tenant entered, or none."""
    assert leaks_past_the_code(house, stage) == 0


def leaks_past_the_code(house: House, stage: Stage) -> int:
    victim, mine = furnish(stage), stage.customer()
    tenant, leaks = victim.customer.tenant.pk, 0
    with psycopg.connect(house.database_url) as direct:
        for entered in (str(mine.tenant.pk), ""):
            direct.execute("SELECT set_config('portal.tenant', %s, false)", (entered,))
            for model in _tenant_models():
                table = model._meta.db_table
                seen = direct.execute(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", (tenant,)).fetchone()
                changed = direct.execute(f"UPDATE {table} SET tenant_id = tenant_id WHERE tenant_id = %s", (tenant,))
                gone = direct.execute(f"DELETE FROM {table} WHERE tenant_id = %s", (tenant,))
                leaks += (seen or (0,))[0] + changed.rowcount + gone.rowcount
        direct.rollback()
    return leaks


@pytest.mark.soak
def test_every_address_method_and_role(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    roles = [role.name for role in ROLES]
    found = attack(house, stage, roles, METHODS)
    requests = found.pop("requests")
    for what, count in found.items():
        figure("tenant isolation", f"{requests} requests, {len(roles)} roles: {what}", count, "0")
    leaks = leaks_past_the_code(house, stage)
    figure("tenant isolation", "rows seen or changed past row security alone", leaks, "0")
    assert set(found.values()) == {0}
    assert leaks == 0
