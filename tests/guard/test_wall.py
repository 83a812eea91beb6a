"""The board on a wall: problems are large, other doors are small or left out, and old data is marked as old."""

import re

import pytest
from playwright.sync_api import expect

from portal.devices.board import URGENT_SPACE, WALL_ROOM
from portal.devices.models import BoardView
from portal.domain.places.models import PassController
from tenants.scope import tenant_scope
from tests.support.desk import said
from tests.support.doors import shows


@pytest.fixture
def building(place):
    """Create a hundred and twenty doors, one of them forced."""
    with tenant_scope(place.tenant):
        PassController.objects.bulk_create(
            PassController(device_id=f"D{number}", device_name=f"Door {number}", state="locked")
            for number in range(119)
        )
        PassController.objects.create(device_id="F", device_name="倉庫 入口")
    shows(place, "F", door="open", errors=["forced_open"])
    return place


def wall(place):
    return f"/t/{place.tenant.slug}/devices/wall/"


def test_what_is_wrong_stands_first_and_what_has_no_room_is_counted(building):
    answer = building.client(building.staff("guard")).get(wall(building))
    html, words = answer.content.decode(), said(answer)
    assert "1 of 120 needs attention" in words
    assert re.findall(r'<li class="wall-alarm">\s*<b>(.*?)</b>', html) == ["倉庫 入口"]
    left = 120 - 1 - (WALL_ROOM - URGENT_SPACE)
    assert html.count("<small>Locked</small>") == WALL_ROOM - URGENT_SPACE
    assert f"{left} more doors, not shown" in words


def test_it_is_drawn_again_only_when_something_was_learned_and_has_doors_read_as_a_board_does(building):
    guard = building.client(building.staff("guard"))
    page = guard.get(wall(building)).content.decode()
    seen = re.search(r'id="wall" data-version="(\w+)"', page)[1]
    assert guard.get(wall(building), headers={"X-Version": seen}).status_code == 204
    shows(building, "D1", door="open")
    assert "<!doctype" not in guard.get(wall(building), headers={"X-Version": seen}).content.decode()
    with tenant_scope(building.tenant):
        assert BoardView.objects.exists()


def test_a_receptionist_has_no_wall(building):
    assert building.client(building.staff("receptionist")).get(wall(building)).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_a_wall_that_hears_nothing_says_since_when_in_place_of_looking_calm(building, open_page):
    page = open_page(building.client(building.staff("guard")))
    page.clock.install()
    page.goto(wall(building))
    old = page.locator("#wall-old")
    expect(old).to_be_hidden()
    page.route("**/devices/wall/", lambda route: None)
    page.clock.run_for(45_000)
    expect(old).to_be_visible()
    expect(old).to_contain_text(re.compile(r"Not updated since \d\d:\d\d:\d\d"))
    page.unroute("**/devices/wall/")
    page.clock.run_for(45_000)
    expect(old).to_be_hidden()


@pytest.mark.django_db(transaction=True)
def test_a_wall_that_is_drawn_anew_at_each_look_is_not_called_old(building, open_page):
    page = open_page(building.client(building.staff("guard")))
    page.clock.install(time="2026-11-24T00:00:00Z")
    page.clock.pause_at("2026-11-24T00:00:20Z")
    page.goto(wall(building))
    for number in range(5):
        shows(building, f"D{number}", door="open", errors=["forced_open"])
        page.clock.run_for(11_000)
        expect(page.locator(".wall-loud")).to_contain_text(f"Door {number}")
    expect(page.locator("#wall-old")).to_be_hidden()
    expect(page.locator("#wall-clock")).to_have_text(re.compile(r"09:01:\d\d"))
