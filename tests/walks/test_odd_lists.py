"""Lists with wrong pages: no list is read in vain, and no row is deleted unless the service has dropped it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people.models import Group, Guest, Member
from portal.domain.places.models import Area, KeyBox, PassController
from portal.domain.sync import failure_reasons, schedule
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.odd_service import serving
from tests.support.places import signed_in, staff_of
from tests.sync.paged_log import text

pytestmark = pytest.mark.share
# For each list: key, identifier and name of a row, whether it has pages, its kind and the model that stores it.
LISTS: dict[str, tuple[str, str, str, bool, MirrorKind, type[Any]]] = {
    "/v1/members": ("members", "member_id", "member_name", True, MirrorKind.MEMBERS, Member),
    "/v1/guests": ("guests", "guest_id", "guest_name", True, MirrorKind.GUESTS, Guest),
    "/v1/membergroups": ("membergroups", "membergroup_id", "membergroup_name", True, MirrorKind.GROUPS, Group),
    "/v1/areas": ("areas", "area_id", "area_name", False, MirrorKind.AREAS, Area),
    "/v1/devices/passes": ("devices", "device_id", "device_name", False, MirrorKind.PASS_CONTROLLERS, PassController),
    "/v1/devices/keys": ("key_devices", "key_device_id", "key_device_name", False, MirrorKind.KEY_BOXES, KeyBox),
    "/v1/histories": ("histories", "history_id", "_content", True, MirrorKind.HISTORIES, History),
}
PAGES = ("", "connection/", "members/", "guests/", "groups/", "areas/", "devices/", "keys/", "logs/?period=30d")


def answered(told: Callable[..., Any]) -> Callable[[str, dict[str, str]], tuple[int, Any]]:
    """Return a service whose lists are built by the given function from key, rows and cursor, with two rows each."""

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path not in LISTS:
            return 200, {}
        key, name, title, is_paged, *_ = LISTS[path]
        rows = [{name: each, title: f"{each} 山田", **_more(path)} for each in ("first", "last")]
        return 200, told(key, rows, query.get("last_evaluated_key", "") if is_paged else None)

    return answer


def _more(path: str) -> dict[str, Any]:
    return {"datetime": text(timezone.now()), "category": "normal"} if path == "/v1/histories" else {}


@pytest.fixture
def read(customer: MakeCustomer) -> Iterator[Callable[..., Customer]]:
    """Return a function that reads all lists of a new customer once, and then changes the service's lists."""
    running = []

    def made(told: Callable[..., Any], here: Customer | None = None) -> Customer:
        if here is not None:
            running[-1][1].answer = answered(told)
        else:
            running.append((context := serving(answered(told)), context.__enter__()))
            here = customer(base_url=running[-1][1].url)
        here.sync()
        schedule.schedule_all(here.tenant)
        here.due_now(MirrorKind.HISTORIES)
        here.work()
        return here

    yield made
    for context, _ in running:
        context.__exit__(None, None, None)


def known(here: Customer) -> dict[str, set[str]]:
    with tenant_scope(here.tenant):
        return {
            path: set(model.objects.values_list(name, flat=True)) for path, (_, name, _, _, _, model) in LISTS.items()
        }


def errors(here: Customer) -> set[str]:
    return {here.state(each[4]).error for each in LISTS.values()}


def whole(key: str, rows: list[Any], cursor: str | None) -> Any:
    return {key: rows}


def in_pages(of_page: Callable[..., Any]) -> Callable[..., Any]:
    """Return pages numbered from 0 for lists with pages, and all rows at once for others."""

    def told(key: str, rows: list[Any], cursor: str | None) -> Any:
        return {key: rows} if cursor is None else of_page(key, rows, int(cursor or "0"))

    return told


def one_a_page(key: str, rows: list[Any], number: int) -> Any:
    return {key: rows[number : number + 1], "last_evaluated_key": number + 1 if number < 1 else None}


ODD = {
    "pages without a row": in_pages(
        lambda key, rows, number: (
            {key: [rows[0]] if number == 0 else rows[1:] if number == 4 else []}
            | ({"last_evaluated_key": str(number + 1)} if number < 4 else {})
        )
    ),
    "a first page without a row": in_pages(
        lambda key, rows, number: {key: rows if number else []} | ({} if number else {"last_evaluated_key": "1"})
    ),
    "the same page twice": in_pages(
        lambda key, rows, number: {key: rows} | ({} if number else {"last_evaluated_key": "1"})
    ),
    "a row twice in one page": lambda key, rows, cursor: {key: [*rows, *rows]},
    "a number as cursor": in_pages(one_a_page),
    "a total that is wrong": lambda key, rows, cursor: {key: rows, "total": 999, "count": -1, "more": {"x": []}},
    "no more, said as false": lambda key, rows, cursor: {key: rows, "last_evaluated_key": False},
    "a bare array": lambda key, rows, cursor: rows,
    "UTF-16": lambda key, rows, cursor: json.dumps({key: rows}).encode("utf-16"),
    "a mark of its encoding": lambda key, rows, cursor: json.dumps({key: rows}).encode("utf-8-sig"),
    "a letter that is cut off": lambda key, rows, cursor: (
        json.dumps({key: rows}, ensure_ascii=False).encode().replace("山".encode(), "山".encode()[:2])
    ),
}


@pytest.mark.parametrize("how", ODD)
def test_a_list_is_read_however_its_pages_are_told(read: Callable[..., Customer], how: str) -> None:
    here = read(ODD[how])
    assert {path: {"first", "last"} for path in LISTS} == known(here)
    assert errors(here) == {""}


def test_one_object_where_a_list_was_is_its_only_row(read: Callable[..., Customer]) -> None:
    here = read(lambda key, rows, cursor: {key: rows[0]})
    assert {path: {"first"} for path in LISTS} == known(here)
    assert errors(here) == {""}


@pytest.mark.parametrize("value", [None, {"first": {"name": "x"}}], ids=["null", "rows by their ID"])
def test_a_list_that_nobody_can_read_takes_nothing_away(read: Callable[..., Customer], value: Any) -> None:
    here = read(whole)
    read(lambda key, rows, cursor: {key: value}, here)
    assert {path: {"first", "last"} for path in LISTS} == known(here)
    assert errors(here) == {failure_reasons.SKIPPED, ""}, "of the log nothing is taken away anyway"
    with tenant_scope(here.tenant):
        client = signed_in(staff_of(here.tenant, "owner"))
    assert {client.get(f"/t/{here.tenant.slug}/{page}").status_code for page in PAGES} == {200}


@pytest.mark.parametrize(
    "told",
    [
        lambda key, rows, cursor: {"other": rows},
        lambda key, rows, cursor: {key: "none"},
        lambda key, rows, cursor: {key: rows, "last_evaluated_key": {"id": "first"}},
        in_pages(lambda key, rows, number: {key: rows, "last_evaluated_key": "5"}),
    ],
    ids=["another key", "a text", "a cursor that is an object", "a circle"],
)
def test_pages_stand_and_the_list_is_read_when_it_can_be_again(read: Callable[..., Customer], told: Any) -> None:
    here = read(whole)
    read(told, here)
    assert {path: {"first", "last"} for path in LISTS} == known(here)
    with tenant_scope(here.tenant):
        client = signed_in(staff_of(here.tenant, "owner"))
    assert {client.get(f"/t/{here.tenant.slug}/{page}").status_code for page in PAGES} == {200}
    read(whole, here)
    assert errors(here) == {""}
