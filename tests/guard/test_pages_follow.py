"""A guard's pages refresh from what the portal knows, without calls to the service."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import expect

from portal.base.timers.clock import database_now
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent
from portal.domain.places.models import PassController
from tenants.scope import tenant_scope
from tests.support.doors import shows

PAGES = {
    "": "overview",
    "devices/": "board",
    "devices/?view=list": "doors-list",
    "devices/D/": "door-version",
    "banners/": "banners",
}


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D", device_name="倉庫 入口")
    shows(place, "D")
    return place


def seen_of(html, part):
    """Return the mark that the page has for one of its parts."""
    return html.split(f'id="{part}"', 1)[1].split('data-version="', 1)[1].split('"', 1)[0]


def ask_again(client, path, part, seen):
    return client.get(path, headers={"X-Version": seen, "HX-Request": "true", "HX-Target": part})


@pytest.mark.parametrize("rest", PAGES)
def test_a_page_is_drawn_again_when_something_is_learned_and_only_then(one, rest):
    guard, part = one.client(one.staff("guard")), PAGES[rest]
    path = f"/t/{one.tenant.slug}/{rest}"
    seen = seen_of(guard.get(path).content.decode(), part)
    assert ask_again(guard, path, part, seen).status_code == 204
    shows(one, "D", door="open", errors=["forced_open"])
    answer = ask_again(guard, path, part, seen)
    html = answer.content.decode()
    assert "orced open" in html
    assert "<html" not in html
    assert ask_again(guard, path, part, seen_of(html, part)).status_code == 204
    assert one.calls() == []


def test_a_reading_says_by_its_mark_what_it_shows_and_has_the_page_look_once_more(one):
    """Check this because an older answer may arrive last: it must differ from the newer mark, to be replaced."""
    guard, page = one.client(one.staff("guard")), f"/t/{one.tenant.slug}/devices/D/"
    shown = seen_of(guard.get(page).content.decode(), "door-version")
    shows(one, "D", door="open", errors=["forced_open"])
    answer = guard.get(f"{page}status/")
    html = answer.content.decode()
    assert "Showing the last known status." in html
    assert "Forced open" in html
    assert html.count('hx-swap-oob="') == 5
    assert 'id="door-now"' not in html, "a request of its own may be under way, and needs its place"
    assert answer["HX-Trigger-After-Settle"] == "update-now"
    read = seen_of(html, "door-version")
    assert read != shown
    assert ask_again(guard, page, "door-version", read).status_code == 204
    shows(one, "D")
    assert ask_again(guard, page, "door-version", read).status_code == 200


def test_nothing_new_costs_a_handful_of_queries(one):
    guard = one.client(one.staff("guard"))
    for rest, most in (("banners/", 8), ("devices/?view=list", 9), ("devices/", 10), ("devices/D/", 11)):
        path, part = f"/t/{one.tenant.slug}/{rest}", PAGES[rest]
        seen = seen_of(guard.get(path).content.decode(), part)
        with CaptureQueriesContext(connection) as asked:
            assert ask_again(guard, path, part, seen).status_code == 204
        assert len(asked) <= most, rest


def test_the_banners_speak_the_readers_language_and_stand_at_the_desk_too(one):
    desk = one.staff("receptionist")
    html = one.client(desk).get(f"/t/{one.tenant.slug}/guests/").content.decode()
    assert f'hx-get="/t/{one.tenant.slug}/guests/banners/"' in html
    assert one.client(desk).get(f"/t/{one.tenant.slug}/guests/banners/").status_code == 200
    guard = one.staff("guard")
    path = f"/t/{one.tenant.slug}/banners/"
    shows(one, "D", door="open", errors=["forced_open"])
    client = one.client(guard)
    seen = seen_of(client.get(path).content.decode(), "banners")
    type(guard).objects.filter(pk=guard.pk).update(language="ja")
    answer = ask_again(client, path, "banners", seen)
    assert "こじ開けられています" in answer.content.decode()


def test_a_page_that_is_away_from_its_tenant_stops_quietly(one):
    answer = one.client(one.staff("receptionist")).get(f"/t/{one.tenant.slug}/banners/", headers={"X-Version": "x"})
    assert answer.status_code == 403


@pytest.fixture
def tab(one, open_page):
    """Return a guard's open tab, which goes to the tenant's addresses."""
    page = open_page(one.client(one.staff("guard")))
    page.goes = lambda rest="": page.goto(f"/t/{one.tenant.slug}/{rest}")
    return page


def test_an_open_page_shows_what_is_learned_without_being_touched(one, tab):
    tab.goes("devices/?view=list")
    row = tab.get_by_role("row").filter(has_text="倉庫 入口")
    expect(row).to_contain_text("Locked")
    tab.keyboard.press("j")
    shows(one, "D", door="open", errors=["forced_open"])
    looked_again(tab)
    expect(row).to_contain_text("Forced open")
    expect(tab.get_by_role("alert").filter(has_text="倉庫 入口 has been forced open.")).to_be_visible()
    expect(row).to_be_focused()
    tab.goes()
    expect(tab.locator("#overview")).to_contain_text("Forced open")
    shows(one, "D")
    looked_again(tab)
    expect(tab.locator("#overview")).to_contain_text("No known problems")
    expect(tab.get_by_role("alert").filter(has_text="forced open")).to_have_count(0)


def test_the_banner_of_a_hold_comes_and_goes_with_the_outcome_of_the_command(one, tab):
    with tenant_scope(one.tenant):
        PassController.objects.filter(device_id="D").update(device_id="mock_succeeded")
    banner = tab.locator(".status-worst").filter(has_text="倉庫 入口 is held unlocked until")
    tab.goes("devices/mock_succeeded/")
    for command, banners in (("Hold unlocked", 1), ("Lock", 0)):
        tab.get_by_role("button", name=command, exact=True).click()
        expect(tab.locator("[data-state=accepted]")).to_have_count(1)
        with tenant_scope(one.tenant):
            newest = Intent.objects.latest("pk")
            Intent.objects.filter(pk=newest.pk, state="accepted").update(due_at=database_now())
            tracking.poll(newest)
        expect(tab.locator("[data-state=accepted]")).to_have_count(0)
        expect(banner).to_have_count(banners)
    shows(one, "mock_succeeded", door="open", errors=["forced_open"])
    looked_again(tab)
    expect(tab.locator("#door-state")).to_have_text(re.compile("Forced open"))  # one, and not a second in the panel
    expect(tab.locator("#door-status")).to_contain_text("Forced open")


def looked_again(page):
    """Refresh the page now, as when its tab becomes visible."""
    page.evaluate("document.body.dispatchEvent(new Event('update-now'))")


def test_a_page_that_follows_is_told_when_to_ask_again(one):
    guard, path = one.client(one.staff("guard")), f"/t/{one.tenant.slug}/devices/D/"
    assert "X-Again" not in guard.get(path)
    seen = seen_of(guard.get(path).content.decode(), "door-version")
    for shown, status in ((seen, 204), ("another", 200)):
        answer = ask_again(guard, path, "door-version", shown)
        assert answer.status_code == status
        assert 1 < float(answer["X-Again"]) < 2


def test_one_request_tells_of_the_notices_above_the_page_too(one):
    guard, path = one.client(one.staff("guard")), f"/t/{one.tenant.slug}/devices/D/"
    html = guard.get(path).content.decode()
    asking = {"HX-Request": "true", "X-Version": seen_of(html, "door-version")}
    asking["X-Version-Banners"] = seen_of(html, "banners")
    assert "HX-Trigger" not in guard.get(path, headers=asking)
    shows(one, "D", door="open", errors=["forced_open"])
    assert "banners-changed" in guard.get(path, headers=asking)["HX-Trigger"]


def looks(page):
    """Collect the addresses that a page refreshes from, starting now."""
    found = []
    page.on("request", lambda request: "x-version" in request.headers and found.append(request.url))
    return found


def heard(page, times):
    """Wait until the page's script has handled the answers: the time until the next refresh starts then."""
    expect(page.locator("html")).to_have_attribute("data-heard", str(times))


HEARS = "document.addEventListener('htmx:afterRequest', () => document.documentElement.dataset.heard = ++window.heard)"


def test_a_page_asks_once_for_all_that_it_follows_at_the_pace_it_was_told(one, tab):
    tab.add_init_script(f"window.heard = 0; {HEARS}")
    tab.clock.install(time=0)
    tab.clock.pause_at(20)
    tab.goes("devices/")
    tab.route("**/devices/*", lambda route: route.fulfill(status=204, headers={"X-Again": "15"}))
    found = looks(tab)
    tab.clock.run_for(10_400)
    heard(tab, 1)
    tab.clock.run_for(14_500)
    assert len(found) == 1
    tab.clock.run_for(800)
    heard(tab, 2)
    tab.clock.run_for(14_500)
    assert [url.rsplit("/", 2)[1] for url in found] == ["devices", "devices"]


@pytest.mark.parametrize("rest", ["", "devices/", "devices/wall/"])
def test_a_part_that_was_drawn_anew_asks_again_at_its_own_pace(one, tab, rest):
    tab.add_init_script(f"window.heard = 0; {HEARS}")
    tab.clock.install(time=0)
    tab.clock.pause_at(20)
    tab.goes(rest)
    shows(one, "D", door="open", errors=["forced_open"])
    tab.clock.run_for(11_000)
    expect(tab.locator("#overview, #board, #wall")).to_contain_text("Forced open")
    heard(tab, 2)  # for the part, and for the notices above it; a page that missed these would request them again
    tab.clock.run_for(12_000)
    heard(tab, 3)


def test_a_page_that_nobody_looks_at_asks_nothing_and_at_once_when_it_comes_to_the_front(one, tab):
    found = looks(tab)
    tab.add_init_script(
        "window.away = true; Object.defineProperty(document, 'hidden', { get: () => window.away, configurable: true })"
    )
    tab.clock.install()
    tab.goes("devices/D/")
    tab.clock.run_for(60_000)
    assert found == []
    with tab.expect_response("**/devices/D/"):
        tab.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")


def test_a_page_shows_a_notice_that_its_own_part_does_not_tell_of(one, tab):
    with tenant_scope(one.tenant):
        PassController.objects.create(device_id="E", device_name="Office")
    shows(one, "E")
    tab.clock.install()
    tab.goes("devices/D/")
    shows(one, "E", door="open", errors=["forced_open"])
    tab.clock.run_for(2_000)
    expect(tab.get_by_role("alert").filter(has_text="Office has been forced open.")).to_be_visible()


def test_the_open_sheet_of_notices_stays_open_and_focused_when_it_is_drawn_again(one, tab):
    shows(one, "D", door="open", errors=["forced_open"])
    tab.goes("alerts/")
    tab.locator("#notices > summary").click()
    with tenant_scope(one.tenant):
        PassController.objects.create(device_id="E", device_name="屋上")
    shows(one, "E", door="open", errors=["forced_open"])
    looked_again(tab)
    expect(tab.locator("#notices > summary")).to_contain_text("· 1 more")
    expect(tab.locator("#notices .banner")).to_have_count(2)
    expect(tab.locator("#notices .banner").last).to_be_visible()
    expect(tab.locator("#notices > summary")).to_be_focused()


@pytest.mark.parametrize("status", [403, 404])
def test_a_part_that_is_gone_is_not_requested_again(open_tab, tab, status):
    open_tab.excused += [f"status of {status}", f"Error Code {status}"]
    tab.goes("alerts/")
    requested = []

    def refuse(route):
        requested.append(route.request.url)
        route.fulfill(status=status, body="")

    tab.route("**/banners/", refuse)
    with tab.expect_response("**/banners/"):
        looked_again(tab)
    for _turn in range(3):
        looked_again(tab)
        tab.wait_for_timeout(200)
    assert len(requested) == 1


def test_the_status_line_leaves_the_page_its_room(one, tab):
    shows(one, "D", door="open", errors=["forced_open"])
    for width, most in ((1440, 44), (390, 56)):
        tab.set_viewport_size({"width": width, "height": 844})
        tab.goes("alerts/")
        assert tab.locator(".banners").bounding_box()["height"] <= most
