"""Who may not see the log sees no record anywhere: every page that a role can reach is looked through."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.core.mirror.models import Guest, Member, PassController
from portal.core.ui.times import TOKYO
from tenants.roles import Permission, role
from tenants.scope import tenant_scope
from tests.support.log import area, happened, loaded, record

pytestmark = pytest.mark.django_db
CANARY = "canary-9b1"


@pytest.fixture
def building(place):
    with tenant_scope(place.tenant):
        Member.objects.create(member_id="m-1", member_name="佐藤 花子", name_key="佐藤花子")
        Guest.objects.create(guest_id="g-1", guest_name="Rossi", name_key="rossi")
        PassController.objects.create(device_id="D1", device_name="倉庫 入口")
    area(place, "Store", D1="in")
    loaded(place)
    now = timezone.now()
    days = {"today": now, "before": now.astimezone(TOKYO).replace(hour=0, minute=0) - timedelta(hours=5)}
    for name, at in days.items():
        for who in ("m-1", "g-1"):
            said = f"{CANARY}-{name}"
            person = {"member_id": who, "member_name": who, "history_id": f"{name}{who}"}
            happened(place, record(at, content=said, device_id="D1", **person))
    return place


def reached(client, place):
    """The text of every page that can be walked to, and of those that name what the records are about."""
    start = f"/t/{place.tenant.slug}/"
    known = ["members/m-1/", "guests/g-1/", "devices/D1/", "areas/a-Store/", "explain/?person=m-1&area=a-Store"]
    known += ["logs/?period=30d", "logs/records/beforem-1/", "logs/records/todaym-1/", "logs/happened/?person=m-1"]
    today = timezone.now().astimezone(TOKYO).date()
    known += [f"logs/{of}/{today - timedelta(days=ago)}/" for of in ("people/m-1", "doors/D1") for ago in (0, 1)]
    waiting, pages = [start, *(start + each for each in known)], {}
    while waiting:
        path = waiting.pop()
        if path in pages:
            continue
        answer = client.get(path)
        pages[path] = "" if answer.streaming else answer.content.decode(errors="replace")
        for close in answer._resource_closers:  # a whole close would take the test's database along
            close()
        found = re.findall(r'(?:href|hx-get)="([^"#]*)"', pages[path])
        within = [each for each in found if each.startswith(start) and "?" not in each]
        waiting += [each for each in within if not re.search(r"/\d{4}-\d{2}(-\d{2})?/", each)]  # days lead to days
    return pages


@pytest.mark.parametrize(
    ("name", "sees"),
    [("receptionist", set()), ("guard", {"today"}), ("auditor", {"today", "before"})],
)
def test_a_role_sees_the_records_it_may_and_no_others(building, name, sees):
    pages = reached(building.client(building.staff(name)), building)
    shown = {day for day in ("today", "before") if any(f"{CANARY}-{day}" in text for text in pages.values())}
    assert shown == sees, [path for path, text in pages.items() if CANARY in text]


def test_support_has_no_permission_for_the_log():
    assert not role("support").permissions & {Permission.LOGS_VIEW, Permission.LOGS_TODAY}
    assert not role("receptionist").permissions & {Permission.LOGS_VIEW, Permission.LOGS_TODAY}
