"""A person who may not see the log sees no record on any page, nor anything that follows from one.

Every page that a role can reach is read, through links and by address.
"""

import difflib
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import timezone

from portal.base.ui.times import TOKYO
from portal.domain.people import row_building
from portal.domain.people.models import Guest, Member
from portal.domain.places.models import Area, PassController
from portal.domain.presence import passages
from portal.domain.visits.models import Visit
from portal.members.lists import CleanupList
from tenants import roles
from tenants.models import SupportSession, User
from tenants.roles import ALL_PERMISSIONS, ROLES, Permission, Role
from tenants.scope import tenant_scope
from tests.support import cached_places
from tests.support.crawl import addresses_of_tenants
from tests.support.keys import key_box, reads, tells
from tests.support.log import area as made_area
from tests.support.log import happened, loaded, record
from tests.support.members import MembersDesk
from tests.support.places import Place, signed_in

pytestmark = pytest.mark.django_db
CANARY = "canary-9b1"


class AllButTheLog(Role):
    """A made-up role, in place of any such role that may be added later."""

    name, title = "all but the log", "All but the log"
    permissions = ALL_PERMISSIONS - {Permission.LOGS_VIEW, Permission.LOGS_TODAY}


class AllButEarlierDays(Role):
    name, title = "all but earlier days", "All but earlier days"
    permissions = ALL_PERMISSIONS - {Permission.LOGS_VIEW}


MADE_UP = (AllButTheLog, AllButEarlierDays)
# One of the roles that see the whole log, and all that do not. The made-up roles have every other permission and reach
# all that the rest reach, so these two are the quick form.
WALKED = (
    *MADE_UP,
    *(
        pytest.param(role, marks=pytest.mark.soak)
        for role in (roles.Receptionist, roles.Guard, roles.Auditor, roles.Support)
    ),
)
# Differs in any case: new entries of the audit log, and hours that begin now.
_MOVES = re.compile(r"/audit/\d+/|/guests/new/")
# A person who may take a roll call may know who is in the building now, and by which door they came.
_WHO_IS_IN = re.compile(r"/guests/building/|/roll-call/")
_HOW_MANY_ARE_IN = re.compile(r'<section[^>]* id="home-inside".*?</section>', re.DOTALL)
# The number of linked pages of one kind that are read, besides those of the records' people and places.
_ALIKE = 3
_NOTHING = re.compile(r"(?!)")
# Addresses that send a request to the service, and show the page beside them.
_READS = re.compile(r"/(reading|status)/")
KEYS = {"today": "01", "before": "02"}


def days_seen_by(role: type[Role]) -> set[str]:
    """Return the days by the contract: all for owner, facility manager and auditor; today for a guard."""
    if Permission.LOGS_VIEW in role.permissions:
        return {"today", "before"}
    return {"today"} if Permission.LOGS_TODAY in role.permissions else set()


@dataclass
class Building:
    """A tenant whose people, doors and areas are loaded, and whose log is complete and empty."""

    place: Place
    area: Area
    member: Member

    @property
    def days(self) -> dict[str, datetime]:
        now = timezone.now()
        return {"today": now, "before": now.astimezone(TOKYO).replace(hour=0, minute=0) - timedelta(hours=5)}

    @property
    def doors(self) -> dict[str, str]:
        """Return each day's door. Earlier days have a separate door, so that today's records do not hide theirs."""
        return {"today": str(self.area.devices_list[0]["device_id"]), "before": "D-9"}

    def comes_in(self, day: str) -> None:
        """Let a member and a guest enter at the door, and load the records."""
        for who in (self.member.member_id, "g-1"):
            person = {"member_id": who, "member_name": who, "device_id": self.doors[day], "history_id": f"{day}{who}"}
            rows = happened(self.place, record(self.days[day], content=f"{CANARY}-{day}", **person))
            with tenant_scope(self.place.tenant):
                row_building.update_last_seen([row.pk for row in rows])
                passages.save_new_passages(self.place.tenant, histories=rows)
        taken = {"unit": KEYS[day], "who": self.member.member_id}
        tells(self.place, content="Key taken", at=self.days[day], history_id=f"{day}-taken", **taken)
        if day == "before":  # who has a key now is visible to anyone who sees records of any day
            back = self.days[day] + timedelta(minutes=9)
            tells(self.place, content="Key returned", at=back, history_id=f"{day}-returned", **taken)

    def client(self, role: type[Role]) -> Client:
        return signed_in(self.helper(role) if role.is_platform else self.place.staff(role.name))

    def helper(self, role: type[Role]) -> User:
        """Return a person of the support staff in a support session."""
        user = User.objects.create_user(f"{role.name}@example.test", "x" * 12, name="S", platform_role=role.name)
        with tenant_scope(self.place.tenant):
            ends = timezone.now() + timedelta(hours=1)
            SupportSession.objects.create(tenant=self.place.tenant, user=user, reason="Ticket 12", expires_at=ends)
        return user

    @property
    def named(self) -> dict[str, list[str]]:
        """Return the values for the addresses, by parameter."""
        dates = [at.astimezone(TOKYO).date().isoformat() for at in self.days.values()]
        records = [f"{day}{who}" for day, who in product(self.days, (self.member.member_id, "g-1"))]
        return {
            "member_id": [self.member.member_id, "g-1"], "guest_id": ["g-1"], "device_id": list(self.doors.values()),
            "area_id": [self.area.area_id, "a-Store"], "membergroup_id": [self.member.membergroup_id],
            "history_id": records, "key_device_id": ["K1"], "unit_no": list(KEYS.values()),
            "day": dates, "which": list(CleanupList.values), "change_name": ["suspend"],
            "kind": ["csv", "members", "visits"], "language": ["en"],
            "form": ["badge"], "party": ["0" * 32], "party_id": ["0" * 32],
        }  # fmt: skip

    @property
    def addresses(self) -> Iterator[str]:
        """Yield every address under /t/, some also with filters, searches and downloads."""
        slug, named = self.place.tenant.slug, self.named
        for address in addresses_of_tenants():
            choices = [named.get(name, ["1"]) for _, name in address.parameters]
            for values in product(*choices):
                yield address.path(slug, {name: v for (_, name), v in zip(address.parameters, values, strict=True)})
        start, place = f"/t/{slug}/", f"place=area:{self.area.area_id}&member={self.member.member_id}"
        for at in self.days.values():
            yield f"{start}explain/?{place}&at={at.astimezone(TOKYO) - timedelta(minutes=2):%Y-%m-%dT%H:%M}"
        for rest in (
            f"person={self.member.member_id}",
            "person=g-1",
            f"device={self.doors['before']}",
            f"area={self.area.area_id}",
        ):
            yield from (f"{start}logs/happened/?{rest}", f"{start}logs/?period=30d&{rest}")
        for text in (self.member.member_name, "g-1", CANARY):
            yield from (f"{start}{page}?q={text}" for page in ("find/", "members/", "guests/", "logs/", "audit/"))
        for page in (
            "members/",
            "areas/",
            "guests/",
            "logs/",
            "devices/",
            *(f"members/leavers/{w}/" for w in CleanupList),
        ):
            yield f"{start}{page}?export=csv"
        yield from (f"{start}changes/new/suspend/?leavers={which}" for which in CleanupList.values)


@pytest.fixture
def building(place: Place, monkeypatch: pytest.MonkeyPatch) -> Building:
    cached_places.read(place, unread=MembersDesk.unread)
    monkeypatch.setattr(roles, "ROLES", (*ROLES, *MADE_UP))
    with tenant_scope(place.tenant):
        Guest.objects.create(guest_id="g-1", guest_name="Rossi", name_key="rossi")
        hours = {"use_date_start": timezone.now(), "use_date_end": timezone.now() + timedelta(hours=8)}
        Visit.objects.create(guest_id="g-1", guest_name="Rossi", name_key="rossi", stage="issued", **hours)
        PassController.objects.create(device_id="D-9", device_name="倉庫 入口")
        area = next(each for each in Area.objects.order_by("pk") if each.devices_list)
        member = Member.objects.order_by("pk")[0]
    key_box(place)
    reads(place, u01="returned", u02="returned", ago=36 * 3600)
    made_area(place, "Store", **{"D-9": "in"})
    loaded(place)
    return Building(place, area, member)


@dataclass(frozen=True)
class Answer:
    """The answer of an address: its text, and whether it refuses this role or this method in any case."""

    text: str
    is_refusal: bool


def reached(client: Client, building: Building, addresses: Sequence[str]) -> dict[str, Answer]:
    """Read every page by address and by links. Changes made by reading are rolled back."""
    start = f"/t/{building.place.tenant.slug}/"
    named, pages, alike, before = {start, *addresses}, {}, Counter(), transaction.savepoint()
    waiting = deque(dict.fromkeys([start, *addresses]))
    while waiting:
        path = waiting.popleft()
        if path in pages or _READS.search(path):
            continue
        kind = _kind(path)
        if path not in named and alike[kind] >= _ALIKE:
            continue
        pages[path] = _read(client, path)
        alike[kind] += bool(pages[path].text)
        found = re.findall(r'(?:href|hx-get|data-href)="([^"#?]*)"', pages[path].text)
        within = [each for each in found if each.startswith(start)]
        waiting += [each for each in within if not re.search(r"/\d{4}-\d{2}(-\d{2})?/", each)]  # days link to more days
    transaction.savepoint_rollback(before)
    return pages


def reached_again(client: Client, pages: dict[str, Answer]) -> dict[str, Answer]:
    """Read the same pages again. If a link now goes to another page, the page with the link differs."""
    before = transaction.savepoint()
    again = {path: found if found.is_refusal else _read(client, path) for path, found in pages.items()}
    transaction.savepoint_rollback(before)
    return again


def _kind(path: str) -> str:
    try:
        return str(resolve(path.partition("?")[0]).route)
    except Resolver404:  # some made-up names cannot be in an address
        return path


def _read(client: Client, path: str) -> Answer:
    headers = {"HX-Request": "true", "HX-Target": "leaver-tabs"} if path.endswith("leavers/ending/") else {}
    answer: Any = client.get(path, headers=headers)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    for close in answer._resource_closers:  # `answer.close()` would also close the test's database connection
        close()
    text = str(body.decode()) if answer.get("Content-Type", "").startswith("text/") else ""
    return Answer(text, answer.status_code in (403, 405))


def gist(text: str) -> str:
    """Return a page without what differs between any two readings: tokens, nonces, marks, times, new audit entries.

    Minutes pass while all pages are read. One of them may be 18:00, when an option to hold a door until then
    disappears.
    Days and hours stay: `3 days ago` that becomes `just now` is a difference.
    """
    text = re.sub(r'(value|content|data-version|nonce)="[^"]{18,}"|CSRFToken": "\w+"|/audit/\d+/', "", text)
    text = re.sub(r'<option value="evening">[^<]*</option>', "", text)
    text = re.sub(r"just now|\d+ min ago|in \d+ min", "minutes from now", text)
    return re.sub(r"\d\d:\d\d(:\d\d)?|[\d.]+%", "", text)


def _difference(one: str, other: str) -> list[str]:
    if one == other or (before := gist(one)) == (after := gist(other)):  # nearly always; comparing lines takes long
        return []
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    told = [line.strip()[:200] for line in lines if line[:2] not in ("--", "++", "@@")]
    return [line for line in told if "API calls left" not in line and "bar-left" not in line][:6]


@pytest.mark.parametrize("role", WALKED, ids=lambda role: role.name)
def test_a_role_sees_the_records_it_may_and_nothing_that_follows_from_others(
    building: Building, role: type[Role]
) -> None:
    seen_days, client, addresses = days_seen_by(role), building.client(role), list(building.addresses)
    for day in seen_days:
        building.comes_in(day)
    without = reached(client, building, addresses)
    for day in (hidden_days := building.days.keys() - seen_days):
        building.comes_in(day)
    pages = reached_again(client, without) if hidden_days else without
    assert len(pages) > 150
    shown = {day for day in building.days if any(f"{CANARY}-{day}" in page.text for page in pages.values())}
    assert shown == seen_days, [path for path, page in pages.items() if CANARY in page.text]
    compared, hidden = [path for path in pages if not _MOVES.search(path)], _NOTHING
    if Permission.ROLL_CALL in role.permissions:
        compared = [path for path in compared if not _WHO_IS_IN.search(path)]
        hidden = _HOW_MANY_ARE_IN
    if seen_days:  # where a key is now, and since when, is visible to anyone who sees records of any day
        compared = [path for path in compared if "/keys/" not in path]
    told = {
        path: lines
        for path in compared
        if (lines := _difference(*(hidden.sub("", each[path].text) for each in (without, pages))))
    }
    assert not told


def test_owners_managers_and_auditors_see_the_log_guards_today_and_nobody_else_any() -> None:
    whole = {role.name for role in ROLES if Permission.LOGS_VIEW in role.permissions}
    assert whole == {"owner", "facility manager", "auditor"}
    assert {role.name for role in ROLES if Permission.LOGS_TODAY in role.permissions} == whole | {"guard"}
