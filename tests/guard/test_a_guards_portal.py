"""The whole portal of a guard: the first page, a door's own log, who is in the building, and no refused link."""

import re

import pytest
from django.utils import timezone

from portal.domain.places.models import PassController
from portal.domain.visits.models import Visit
from tenants.scope import tenant_scope
from tests.support.doors import shows
from tests.support.log import keep_one


@pytest.fixture
def building(place):
    """Create three doors, one of them open, and a guest who is in the building."""
    with tenant_scope(place.tenant):
        for number, name in enumerate(("Archive", "Bureau", "倉庫 入口")):
            PassController.objects.create(device_id=f"D{number}", device_name=name)
        keep_one(
            history_id="h1",
            at=timezone.now(),
            content="Entry",
            device_id="D2",
            member_name="佐々木 健太郎",
            category="normal",
        )
        keep_one(history_id="h2", at=timezone.now(), content="Elsewhere", device_id="D0")
        now = timezone.now()
        Visit.objects.create(
            guest_id="G", guest_name="山田 花子", arrived_at=now, use_date_start=now, use_date_end=now, stage="issued"
        )
    shows(place, "D0")
    shows(place, "D2", door="open")
    return place


@pytest.fixture
def guard(building):
    return building.client(building.staff("guard"))


def page(client, place, rest=""):
    return client.get(f"/t/{place.tenant.slug}/{rest}").content.decode()


def test_doors_that_need_somebody_come_first(building, guard):
    assert re.findall(r"Archive|Bureau|倉庫 入口", page(guard, building, "devices/?view=list"))[0] == "倉庫 入口"
    by_name = page(guard, building, "devices/?view=list&sort=name_order").partition("<tbody")[2]
    assert re.findall(r"Archive|Bureau|倉庫 入口", by_name)[0] == "Archive"


def test_a_door_shows_its_own_log(building, guard):
    html = page(guard, building, "devices/D2/")
    assert "佐々木 健太郎" in html
    assert "Elsewhere" not in html
    assert "The activity log is not loaded yet." in page(guard, building, "devices/D1/")


def test_a_guard_sees_who_is_in_the_building_and_nothing_else_of_the_desk(building, guard):
    html = page(guard, building, "guests/building/")
    assert "山田 花子" in html
    for away in ("guests/by-host/", "guests/month/", "guests/new/"):
        assert f'/t/{building.tenant.slug}/{away}"' not in html
        assert guard.get(f"/t/{building.tenant.slug}/{away}").status_code == 403


def test_nothing_that_a_guard_is_offered_is_refused(building, guard):
    start = f"/t/{building.tenant.slug}/"
    waiting, seen = [start], {}
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        answer = guard.get(path)
        seen[path] = answer.status_code
        if "text/html" in answer["Content-Type"] and not answer.streaming:
            found = re.findall(r'(?:href|hx-get|action)="([^"#]*)"', answer.content.decode())
            paths = [each.replace("&amp;", "&") for each in found if each.startswith(start) and "?" not in each]
            waiting += [path for path in paths if "xlsx" not in path]  # other tests read spreadsheets
    assert f"{start}guests/building/" in seen
    assert f"{start}devices/D2/" in seen
    assert {path: status for path, status in seen.items() if status == 403} == {}
