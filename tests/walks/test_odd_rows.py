"""Any values in one row of a list: the other rows are loaded, and pages show all of them."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people.models import Group, Guest, Member
from portal.domain.places.models import Area, KeyBox, PassController
from portal.domain.sync import failure_reasons, schedule
from portal.domain.sync.models import SharedReading
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.effort import SOAK
from tests.support.extremes import BODIES, SOME
from tests.support.odd_service import Service, serving
from tests.support.places import signed_in, staff_of

pytestmark = pytest.mark.share
NOW = timezone.now().isoformat(timespec="seconds")
# For each list: its key, what identifies a row, a correct row, and the model that stores it.
LISTS: dict[str, tuple[str, str, dict[str, Any], type[Any]]] = {
    "/v1/members": ("members", "member_id", {
        "member_name": "Sound", "member_code": "c", "membergroup_id": "g", "membergroup_name": "G", "card_data": "1",
        "qrcode": {"data": "x"}, "face_data": "", "profile_image_url": "", "account_type": "general",
        "use_date_start": NOW, "use_date_end": NOW, "privilege": {}, "unheard_of": 1,
    }, Member),
    "/v1/guests": ("guests", "guest_id", {
        "guest_name": "Sound", "email": "a@example.test", "use_date_start": NOW, "use_date_end": NOW,
        "key_return_date_end": NOW, "return_grace_period": 5, "area_id_list": [], "remarks": "", "is_for_reserve": True,
        "key_devices_list": [], "unheard_of": 1,
    }, Guest),
    "/v1/membergroups": ("membergroups", "membergroup_id", {"membergroup_name": "Sound", "member_count": 1}, Group),
    "/v1/areas": ("areas", "area_id", {
        "area_name": "Sound", "is_outside": False, "is_management": False, "devices_list": [], "unheard_of": 1,
    }, Area),
    "/v1/devices/passes": ("devices", "device_id", {"device_name": "Sound", "unheard_of": 1}, PassController),
    "/v1/devices/keys": ("key_devices", "key_device_id", {
        "key_device_name": "Sound", "product_type": "", "number_of_management": 3, "units": [], "unheard_of": 1,
    }, KeyBox),
    "/v1/histories": ("histories", "history_id", {
        "datetime": NOW, "status": "occur", "category": "normal", "_content": "Entry", "unheard_of": 1,
        "member": {"id": "sound"}, "device": {"id": "sound"},
    }, History),
}  # fmt: skip
DEEP = {"member": ("id", "name", "_type", "label", "attribute"), "device": ("id", "name", "module", "units")}
TOLD_OF_ONE = (
    "use_date_end", "devices_pass", "keys_pass", "qrcode", "privilege", "door_status", "units_status", "power_status",
    "key_return_date_end", "return_grace_period", "area_id_list",
)  # fmt: skip
# Rights of a schedule from one end of the calendar to the other, and within a day that does not exist.
RIGHTS = [
    {"default_mode": "option", "areas_list": [{"area_id": "first", "pass": {"effect": "allow", "schedule": [
        {"mode": "range", "start": {"date": begin, "time": at}, "end": {"date": end, "time": at}},
        {"mode": "weekly", "start": {"time": at}, "end": {"time": at}, "week": ["Monday", "Holiday", 5, {}]},
    ]}}]}
    for begin, end, at in (
        ("0001-01-01", "9999-12-31", "00:00:00+09:00"), ("0001-01-01", "9999-12-31", "23:59:59-14:00"),
        ("2026-02-30", "0000-00-00", "24:00:00+09:00"), ("9" * 500, "-1", ""),
    )
]  # fmt: skip
NO_ROWS = ("null", "7", '"x"', "[]", "{}", '{"unheard_of": 1}')


class Odd:
    """A service whose lists have a correct row at each end, and possibly wrong rows between them."""

    def __init__(self, values: tuple[str, ...]) -> None:
        self.values, self.rows_without_id = values, True
        self.one = b""  # the answer for one thing

    def __call__(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path not in LISTS:
            return 200, self.one or b"{}"
        key, name, sound, _ = LISTS[path]
        rows = [_row(name, "first", sound), *self._odd(name, sound), _row(name, "last", sound)]
        return 200, f'{{"{key}": [{", ".join(rows)}]}}'.encode()

    def _odd(self, name: str, sound: dict[str, Any]) -> Iterator[str]:
        yield from NO_ROWS if self.rows_without_id else ()
        for value in self.values:
            if self.rows_without_id or value not in ("null", '""', "[]", "{}"):
                yield _row(name, value, sound, is_text=False)
            for field in sound:
                yield _row(name, f"odd-{field}-{self.values.index(value)}", sound | {field: value}, raw=field)
            for outer, inner in DEEP.items():
                for each in inner if outer in sound else ():
                    at = f"odd-{each}-{self.values.index(value)}"
                    yield _row(name, at, sound | {outer: f'{{"{each}": {value}}}'}, raw=outer)


def _row(name: str, of: str, said: dict[str, Any], *, raw: str = "", is_text: bool = True) -> str:
    told = [f'"{name}": {json.dumps(of) if is_text else of}']
    told += [f'"{each}": {value if each == raw else json.dumps(value)}' for each, value in said.items()]
    return "{" + ", ".join(told) + "}"


@pytest.fixture
def odd(customer: MakeCustomer) -> Iterator[tuple[Odd, Service, Customer]]:
    answer = Odd(SOME)
    with serving(answer) as service:
        yield answer, service, customer(base_url=service.url)


def sync(here: Customer) -> None:
    here.sync()
    schedule.schedule_all(here.tenant)
    here.due_now(MirrorKind.HISTORIES)
    here.work()


def known(here: Customer, path: str) -> set[str]:
    _, name, _, model = LISTS[path]
    with tenant_scope(here.tenant):
        return set(model.objects.values_list(name, flat=True))


def test_a_bad_row_stops_the_reading_of_no_other(odd: tuple[Odd, Service, Customer]) -> None:
    answer, _, here = odd
    sync(here)
    for path, (_, _, sound, _) in LISTS.items():
        found = known(here, path)
        assert {"first", "last"} <= found, path
        assert {f"odd-{field}-{n}" for field in sound for n in range(len(answer.values))} <= found, path
    for kind in (
        MirrorKind.MEMBERS,
        MirrorKind.GUESTS,
        MirrorKind.GROUPS,
        MirrorKind.AREAS,
        MirrorKind.PASS_CONTROLLERS,
        MirrorKind.KEY_BOXES,
    ):
        assert here.state(kind).error == failure_reasons.SKIPPED, kind
        assert here.state(kind).as_of is not None
    assert here.state(MirrorKind.HISTORIES).error == ""


def test_a_list_with_rows_that_have_no_id_takes_nothing_away(odd: tuple[Odd, Service, Customer]) -> None:
    answer, _, here = odd
    answer.values = ()
    sync(here)
    with tenant_scope(here.tenant):
        for name, model in (("member_id", Member), ("membergroup_id", Group)):
            more = {"name_key": ""} if model is Member else {"membergroup_name": "G", "name_key": "g"}
            model.objects.create(**{name: "gone"}, **more)
        Guest.objects.create(guest_id="gone", guest_name="Gone", name_key="gone")
    sync(here)
    lists = ("/v1/members", "/v1/membergroups", "/v1/guests")
    assert all("gone" in known(here, path) for path in lists)
    answer.rows_without_id = False
    sync(here)
    assert not any("gone" in known(here, path) for path in lists)
    assert here.state(MirrorKind.MEMBERS).error == ""


def test_pages_show_what_is_odd(odd: tuple[Odd, Service, Customer]) -> None:
    _, _, here = odd
    sync(here)
    with tenant_scope(here.tenant):
        client = signed_in(staff_of(here.tenant, "owner"))
    start = f"/t/{here.tenant.slug}/"
    lists = ("members", "guests", "groups", "areas", "devices", "keys", "logs")
    pages = ["", "connection/", "members/leavers/ending/", "logs/?period=30d", "logs/?from=1900-01-01&to=9998-12-31"]
    pages += [f"{each}/{more}" for each in lists for more in ("", "?size=200", "?export=csv", "?export=xlsx", "?q=odd")]
    of_one = {"/v1/members": "members", "/v1/guests": "guests", "/v1/membergroups": "groups", "/v1/areas": "areas",
              "/v1/devices/passes": "devices", "/v1/devices/keys": "keys", "/v1/histories": "logs/records"}  # fmt: skip
    for path, page in of_one.items():
        names = sorted(each for each in known(here, path) if each.startswith("odd-"))
        pages += [f"{page}/{each}/" for each in (names if SOAK else names[::17])]
    statuses = {unquote(page): _status(client, start + page) for page in pages}
    assert not {page: status for page, status in statuses.items() if status >= 500}
    assert sum(status == 200 for status in statuses.values()) > len(statuses) * 0.9


def test_a_page_of_one_thing_stands_whatever_the_service_answers_about_it(odd: tuple[Odd, Service, Customer]) -> None:
    answer, _, here = odd
    values, answer.values = answer.values, ()
    sync(here)
    with tenant_scope(here.tenant):
        client = signed_in(staff_of(here.tenant, "owner"))
    names = '"member_id": "first", "guest_id": "first", "device_id": "first"'
    told = [f'{{{names}, "{field}": {value}}}'.encode() for field in TOLD_OF_ONE for value in values]
    for body in (*BODIES[:: 1 if SOAK else 6], *told[:: 1 if SOAK else 11]):
        answer.one = body
        with tenant_scope(here.tenant):
            SharedReading.objects.all().delete()
        pages = ("members/first/reading/", "guests/first/reading/", "devices/first/status/", "keys/first/status/")
        statuses = {page: _status(client, f"/t/{here.tenant.slug}/{page}") for page in pages}
        assert not {page: status for page, status in statuses.items() if status >= 500}, body[:80]


def _status(client: Any, path: str) -> int:
    client.raise_request_exception = False
    answer = client.get(path)
    if answer.streaming:
        b"".join(answer.streaming_content)
    return int(answer.status_code)


def test_pages_of_rights_stand_whatever_their_schedule(odd: tuple[Odd, Service, Customer]) -> None:
    answer, _, here = odd
    answer.values = ()
    sync(here)
    with tenant_scope(here.tenant):
        client = signed_in(staff_of(here.tenant, "owner"))
    of_the_member = ("", "reading/", "rights/")
    for rights in RIGHTS:
        answer.one = json.dumps({"member_id": "first", "member_name": "Sound", "devices_pass": rights}).encode()
        with tenant_scope(here.tenant):
            SharedReading.objects.all().delete()
        pages = [
            *(f"members/first/{each}" for each in reversed(of_the_member)),
            "areas/first/",
            "areas/first/?export=csv",
        ]
        pages += [
            f"explain/?member=first&place=area:first&at={at}"
            for at in ("2026-11-23T10:00", "9998-12-31T23:59", "1900-01-01")
        ]
        statuses = {page: _status(client, f"/t/{here.tenant.slug}/{page}") for page in pages}
        assert not {page: status for page, status in statuses.items() if status != 200}
