"""The board of doors: what comes first, how unknown states are shown, and which of its events a person may see."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accessapi.operations import CallClass
from portal.base.timers.clock import database_now
from portal.base.ui.times import clock_tag
from portal.devices import status_reading
from portal.devices.models import BoardView
from portal.domain.budget import ledger
from portal.domain.budget.priorities import MAX_SHARE_FOR_WATCHED, Priority
from portal.domain.places.door_states import USUAL_INTERVAL
from portal.domain.places.models import Area, PassController
from tenants.scope import tenant_scope
from tests.support.doors import door, read_due, real_doors, shows
from tests.support.log import happened, loaded, record
from tests.support.rounds import tenants_with
from tests.support.waiting import until


@pytest.fixture
def building(place):
    """Create five doors: forced, offline, never read, locked in two areas, and locked in none."""
    with tenant_scope(place.tenant):
        for key, name in (("F", "倉庫"), ("O", "Cellar"), ("N", "Attic"), ("L", "Lobby"), ("X", "Shed")):
            PassController.objects.create(device_id=key, device_name=name)
        areas = {"Annex": ["L"], "Main": ["F", "O", "N", "L"]}
        for number, (name, doors) in enumerate(areas.items()):
            listed = [{"device_id": key, "in_out": "in"} for key in doors]
            Area.objects.create(area_id=f"a{number}", area_name=name, devices_list=listed)
    shows(place, "F", door="open", errors=["forced_open"])
    shows(place, "O", cloud_com_status="lost")
    shows(place, "L")
    shows(place, "X")
    return place


@pytest.fixture
def guard(building):
    return building.client(building.staff("guard"))


def board(client, place, query="", **headers):
    return client.get(f"/t/{place.tenant.slug}/devices/{query}", headers=headers).content.decode()


def shared_rows(html):
    """Return the part of the board with the areas that have one door."""
    return html.partition('board-area-row"')[2]


def tiles(html):
    return re.findall(r'<li class="tile tile-(\w+)" data-id="(\w+)"', html)


def test_each_door_is_shown_once_in_its_first_area_the_most_serious_first(building, guard):
    html = board(guard, building)
    assert tiles(html) == [("alarm", "F"), ("hatched", "O"), ("unknown", "N"), ("quiet", "L"), ("quiet", "X")]
    headings = re.findall(r"<h2>\s*(.*?)\s*<span", html)
    assert headings == ["Main"], "areas with one door share rows"
    names = re.findall(
        r'<a class="tile-name".*?<span class="muted fine">\s*(.*?)\s*</span>', shared_rows(html), re.DOTALL
    )
    assert names == ["Annex", "Not in an area"]
    assert "also Main" in html
    for word in ("Forced open", "Offline", "Unknown", "Locked"):
        assert f"<span>{word}</span>" in html


def test_the_headline_says_how_many_need_somebody_and_what_it_does_not_know(building, guard):
    html = board(guard, building)
    assert "2 of 5 need attention" in html
    assert "(1 not loaded, 1 offline)" in html


def test_a_building_at_rest_says_so(building, guard):
    for key in "FOLNX":
        shows(building, key)
    html = board(guard, building)
    assert "5 doors, none needs attention" in html
    assert "(" not in html.partition("none needs attention</b>")[2].partition("</p>")[0]
    assert "No door needs attention here" in board(guard, building, "?only=attention")


def test_the_address_narrows_the_board_to_what_needs_somebody_and_to_an_area(building, guard):
    assert [key for _, key in tiles(board(guard, building, "?only=attention"))] == ["F", "O"]
    assert [key for _, key in tiles(board(guard, building, "?area=a1"))] == ["F", "O", "N", "L"]
    assert [key for _, key in tiles(board(guard, building, "?area=none"))] == ["X"]
    assert "2 of 5 need attention" in board(guard, building, "?area=none"), "of the building, not of what is shown"
    assert "No results" in board(guard, building, "?area=nowhere")


def keys_on(page):
    return page.eval_on_selector_all("#board .tile", "all => all.map(each => each.dataset.id)")


@pytest.mark.django_db(transaction=True)  # a browser: the board is drawn again
def test_the_filter_applies_as_it_is_chosen_and_the_board_still_updates(building, guard, open_page):
    page = open_page(guard)
    page.goto(f"/t/{building.tenant.slug}/devices/?view=board")
    page.evaluate("document.body.dataset.same = 1")
    page.focus("#board-area")
    page.select_option("#board-area", "a1")
    until(lambda: keys_on(page) == ["F", "O", "N", "L"], 10, saying="the doors of the area")
    page.check("[name=only]")
    until(lambda: keys_on(page) == ["F", "O"], 10, saying="those of them that need attention")
    assert "area=a1" in page.url
    assert "only=attention" in page.url
    page.focus("#board-area")
    shows(building, "N", door="open")
    until(lambda: keys_on(page) == ["F", "O", "N"], 30, saying="a door that was opened")
    assert page.evaluate("[document.activeElement.id, document.body.dataset.same]") == ["board-area", "1"]


def moments(html):
    """Return the time above the doors, and the times in their states."""
    first, *others = re.findall(r"as of <time[^>]*>(.*?)</time>", html)
    return first, others


@pytest.mark.parametrize("page", ["?view=board", "wall/"])
def test_the_page_has_one_time_and_only_older_states_have_their_own(building, guard, page):
    for ago, key in ((10, "F"), (40, "X")):
        with tenant_scope(building.tenant):
            PassController.objects.filter(device_id=key).update(known_at=database_now() - timedelta(minutes=ago))
    as_of, others = moments(board(guard, building, page))
    assert as_of in clock_tag(door(building, "F").known_at)
    assert len(others) == 1
    assert others[0] in clock_tag(door(building, "X").known_at)


def comes_in(place, name, ago=timedelta()):
    happened(place, record(timezone.now() - ago, device_id="L", content="Entry", member_name=name))


def test_a_tile_says_what_happened_last_as_far_as_a_person_may_know(building, guard):
    loaded(building)
    owner = building.client(building.owner)
    comes_in(building, "高橋", ago=timedelta(days=2))
    assert "高橋" in board(owner, building)
    assert "高橋" not in board(guard, building), "a guard sees today's log"
    comes_in(building, "佐々木")
    for client in (owner, guard):
        assert "佐々木" in board(client, building)
        assert "高橋" not in board(client, building)


def test_the_board_is_drawn_again_when_something_is_learned_or_happens_and_only_then(building, guard):
    asks = {"HX-Request": "true", "HX-Target": "board"}
    path = f"/t/{building.tenant.slug}/devices/?view=board"
    seen = re.search(r'id="board" data-version="([^"]+)"', board(guard, building))[1]
    assert guard.get(path, headers=asks | {"X-Version": seen}).status_code == 204
    comes_in(building, "佐々木")
    html = guard.get(path, headers=asks | {"X-Version": seen}).content.decode()
    assert "佐々木" in html
    assert "<html" not in html
    assert building.calls() == []


def test_a_person_finds_the_view_again_that_they_chose(building, guard):
    assert 'id="board"' in board(guard, building)
    here = f"/t/{building.tenant.slug}/devices/"
    answer = guard.post("/look/lists/doors/", {"view": "list", "next": f"{here}?view=list"}, follow=True)
    assert 'id="doors-list"' in answer.content.decode()
    assert 'id="doors-list"' in board(guard, building)
    assert 'id="board"' in board(guard, building, "?view=board")
    assert 'id="board"' in board(building.client(building.owner), building)


def test_the_board_costs_as_many_statements_for_a_thousand_doors_as_for_five(building, guard):
    board(guard, building)
    counts = []
    for more in (100, 1000):
        with tenant_scope(building.tenant):
            have = PassController.objects.count()
            PassController.objects.bulk_create(
                PassController(device_id=f"d{number}", device_name=f"Door {number}") for number in range(have, more)
            )
        with CaptureQueriesContext(connection) as asked:
            assert len(tiles(board(guard, building))) == more
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 14


def test_a_building_without_doors_says_why(make):
    place = make()
    loaded(place)
    html = board(place.client(place.staff("guard")), place)
    assert 'class="blank"' in html
    assert not tiles(html)


def polled(client, place):
    path = f"/t/{place.tenant.slug}/devices/?view=board"
    return client.get(path, headers={"HX-Request": "true", "HX-Target": "board", "X-Version": "nothing"})


def aged(place, minutes):
    """Make the readings of all doors older by so many minutes."""
    ago = timedelta(minutes=minutes)
    with tenant_scope(place.tenant):
        PassController.objects.update(status_as_of=F("status_as_of") - ago, look_at=F("look_at") - ago)


def read_whole(place):
    real_doors(place)
    while read_due(place):
        pass
    return place


def test_doors_are_read_sooner_while_a_board_is_in_sight_and_only_then(place):
    guard = read_whole(place).client(place.staff("guard"))
    with tenant_scope(place.tenant):
        PassController.objects.update(state="locked", look_at=database_now() + USUAL_INTERVAL)
        unlocked = PassController.objects.order_by("pk").first().device_id
        PassController.objects.filter(device_id=unlocked).update(state="unlocked")
    aged(place, 3)
    board(guard, place)
    assert read_due(place) == 0, "opening the page alone is no board in sight"
    polled(guard, place)
    assert place.tenant.pk in tenants_with(status_reading.due_doors)
    assert read_due(place) == 1
    assert door(place, unlocked).status_as_of > database_now() - timedelta(minutes=1)
    with tenant_scope(place.tenant):
        BoardView.objects.update(looked_at=database_now() - timedelta(minutes=2))
    aged(place, 3)
    assert read_due(place) == 0


@pytest.mark.parametrize("viewers", [1, 20])
def test_one_viewer_costs_the_calls_of_twenty_and_a_row(place, viewers):
    read_whole(place)
    aged(place, 6)
    with tenant_scope(place.tenant):
        doors = PassController.objects.count()
        PassController.objects.update(look_at=database_now() + timedelta(minutes=9))
    before = len(place.calls(26))
    guard = place.client(place.staff("guard"))
    for _ in range(viewers):
        polled(guard, place)
        read_due(place)
    assert len(place.calls(26)) - before == doors
    with tenant_scope(place.tenant):
        assert BoardView.objects.count() == 1


def test_a_board_reads_no_door_beyond_half_of_an_hour_that_others_used(place):
    read_whole(place)
    polled(place.client(place.staff("guard")), place)
    aged(place, 6)
    line, status = place.connection, place.tenant.environment.catalogue.find("pass_controller_status")
    with tenant_scope(place.tenant):
        hour = ledger.read_gauge(line, CallClass.DEVICE)
        while hour.used < hour.limit * MAX_SHARE_FOR_WATCHED:
            ledger.count_call(line, status, Priority.SYNC if hour.used < hour.limit // 4 else Priority.JOBS)
            hour = ledger.read_gauge(line, CallClass.DEVICE)
        while hour.has_room_for(Priority.SYNC):
            ledger.count_call(line, status, Priority.SYNC)
            hour = ledger.read_gauge(line, CallClass.DEVICE)
    assert read_due(place) == 0
    assert hour.has_room_for(Priority.JOBS)
