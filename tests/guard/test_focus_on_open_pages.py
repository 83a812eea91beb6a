"""Redrawn parts of a page keep a keyboard user's focus and ticks, and no request fails.

Needs a browser, because only a browser has focus, a palette and a network that can fail.
"""

import re
import uuid
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.receptionist import test_roll_call as roll_calls
from tests.receptionist.test_roll_call import early  # noqa: F401 - a fixture
from tests.receptionist.test_roll_call_on_phones import WITHOUT_NETWORK, rests, row, ticks
from tests.support.doors import shows
from tests.support.lockdown import furnish, order, settle, start
from tests.support.waiting import until

FORCED = {"door": "open", "errors": ["forced_open"]}
OLD = "element => { element.dataset.old = ''; element.focus(); return document.activeElement === element; }"


@pytest.fixture
def locked(place):
    """Start a lockdown of three doors; no door has answered yet."""
    furnish(place)
    start(place.client(place.staff("facility manager")), place)
    return place


@pytest.fixture
def open_as(locked, open_page):
    """Return `open_as("guard", "devices/")`, which opens a page of the tenant with a test clock.

    The page lists its failed requests in `bad`.
    """

    def make(role, rest):
        page = open_page(locked.client(locked.staff(role)))
        page.bad = []
        page.on("response", lambda answer: answer.status >= 400 and page.bad.append((answer.status, answer.url)))
        page.clock.install()
        page.goto(f"/t/{locked.tenant.slug}/{rest.format(door=locked.doors[0], order=order(locked).pk)}")
        return page

    return make


def focus(locator):
    """Focus the element and mark it; a redrawn element has no mark."""
    until(lambda: locator.evaluate(OLD), saying="focus is there")  # it may be redrawn just now


def learned(place, turn):
    """Give the doors a new state."""
    settle(place)
    for each in place.doors:
        shows(place, each, **(FORCED if turn % 2 else {}))


def drawn_anew(page, locator):
    """Let the page refresh until the focused element was replaced."""
    until(lambda: page.clock.run_for(6_000) or locator.get_attribute("data-old") is None, saying="it is drawn anew")


def stays_focused(locked, page, locator):
    """Check that the focus stays through two redraws, and that no request of the page was refused."""
    for turn in (1, 2):
        focus(locator)
        learned(locked, turn)
        drawn_anew(page, locator)
        expect(locator).to_be_focused()
    assert page.bad == []


BANNER = ".banners a:text('Show outcome')"
FOCUSED = [
    ("guard", "", BANNER),
    ("guard", "", "#overview a:text('View activity log')"),
    ("guard", "devices/?view=board", BANNER),
    ("guard", "devices/?view=board", ".tile-name:text('倉庫')"),
    ("guard", "devices/{door}/", BANNER),
    ("guard", "devices/wall/", BANNER),
    ("guard", "alerts/", BANNER),
    ("guard", "lockdown/{order}/", ".lock-came a"),
    ("facility manager", "lockdown/{order}/", "button:text-is('Release')"),
    ("facility manager", "members/", BANNER),
]


@pytest.mark.parametrize(("role", "rest", "what"), FOCUSED)
def test_focus_stays_on_a_page_left_open_under_a_lockdown(locked, open_as, role, rest, what):
    page = open_as(role, rest)
    learned(locked, 0)
    stays_focused(locked, page, page.locator(what).first)


def test_focus_stays_on_what_a_reading_draws_anew_on_the_page_of_a_door(locked, open_as):
    """Check with the guard's own command: the answers to it also contain parts elsewhere on the page."""
    page = open_as("guard", "devices/{door}/")
    page.get_by_role("button", name="Unlock", exact=True).click()
    stays_focused(locked, page, page.locator("#door-commands .outcome-meta a").first)


def test_the_palette_gives_focus_back_also_when_the_page_was_drawn_anew_behind_it(locked, open_as):
    page = open_as("guard", "devices/?view=board")
    learned(locked, 0)
    palette, hits = page.locator("#palette"), page.locator(".palette-hit")
    tile = page.locator(".tile-name", has_text="倉庫")
    mark = "hits => hits.forEach(hit => { hit.dataset.old = '' })"

    def drawn():
        page.clock.run_for(500)
        return hits.count() and hits.first.get_attribute("data-old") is None

    for turn, letter in enumerate("oae", 1):  # a different letter each time: the page does not repeat the same search
        focus(tile)
        hits.evaluate_all(mark)
        page.keyboard.press("Control+k")
        until(drawn, saying="the palette has looked")
        hits.evaluate_all(mark)
        page.keyboard.type(letter)
        until(drawn, saying="what is typed is found")
        expect(hits.first).to_have_attribute("aria-selected", "true")
        page.keyboard.press("ArrowDown")
        expect(hits.nth(1)).to_have_attribute("aria-selected", "true")
        if turn > 1:
            learned(locked, turn)
            drawn_anew(page, tile)
        expect(page.locator("#palette-input")).to_be_focused()
        page.keyboard.press("Escape")
        expect(palette).to_be_hidden()
        expect(tile).to_be_focused()
    assert page.bad == []


@pytest.fixture
def warden(place, open_page):
    """Return a guard's phone at a roll call, with its page stored for offline use."""
    roll_calls.furnish(place)
    place.desk = place.client(place.staff("receptionist"))
    page = open_page(place.client(place.staff("guard")), roll_calls.start(place, place.desk))
    rests(page)
    return page


def test_focus_stays_on_the_ticked_row_without_a_network_and_when_it_is_back(place, warden, open_tab):
    open_tab.excused.append("ERR_INTERNET_DISCONNECTED")
    safe = row(warden, "馬場").get_by_role("button", name="Safe: 馬場")
    warden.context.set_offline(True)
    # With a service worker, Chromium may send requests although it is offline.
    warden.evaluate(f"sessionStorage.lost = 1; {WITHOUT_NETWORK}; true")
    focus(safe)
    warden.keyboard.press("Enter")
    expect(safe).to_have_attribute("aria-pressed", "true")
    expect(warden.locator("#roll-waiting")).to_contain_text("1 not sent yet")
    expect(safe).to_be_focused()
    assert ticks(place) == 0
    place.desk.post(f"{urlsplit(warden.url).path}people/", {"name": "新規 来訪", "nonce": uuid.uuid4()})
    warden.evaluate("sessionStorage.removeItem('lost')")
    warden.context.set_offline(False)
    expect(row(warden, "新規 来訪")).to_be_visible()
    expect(safe).not_to_have_attribute("data-old", "")
    expect(safe).to_be_focused()
    expect(safe).to_have_attribute("aria-pressed", "true")
    expect(warden.locator("#roll-waiting")).to_be_hidden()
    assert ticks(place) == 1


def test_focus_stays_in_the_row_whose_tick_is_taken_back(warden):
    of = row(warden, "馬場")
    of.get_by_role("button", name="Safe: 馬場").click()
    of.get_by_role("button", name="Undo: 馬場").focus()
    warden.keyboard.press("Enter")
    expect(of.get_by_role("button", name="Safe: 馬場")).to_be_focused()


def test_a_door_leads_a_guard_to_no_request_that_is_not_theirs_to_see(locked):
    guard = locked.client(locked.staff("guard"))
    html = guard.get(f"/t/{locked.tenant.slug}/devices/{locked.doors[0]}/").content.decode()
    assert 'id="outcome-intent-' in html
    requests = set(re.findall(r'"(/t/[^"]*/intents/[^"]*)"', html))
    assert requests
    assert {guard.get(each).status_code for each in requests} <= {200, 204}
