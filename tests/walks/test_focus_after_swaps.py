"""Focus is never lost when htmx draws a part of a page anew, and a part that is gone is not requested again.

It needs a browser, because only a browser has focus. It visits each kind of page that has parts that are drawn anew.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.effort import SOAK
from tests.support.filled_tenants import furnish, pages_of, read
from tests.support.members import MembersDesk
from tests.support.places import Place

# Draws each part anew that a page requests, while its first control has focus: once as it is, once without the control.
# Returns what had focus and lost it.
DRAW = """async () => {
  const lost = [];
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const drawn = async (part, html) => { htmx.swap(part, html, { swapStyle: "outerHTML" }); await pause(80); };
  const soon = async (is) => { for (let n = 0; n < 40 && !is(); n++) await pause(50); return is(); };
  for (const { id } of document.querySelectorAll("main [id][hx-get]")) {
    const part = () => document.getElementById(id);
    const control = [...part()?.querySelectorAll("a[href], button, summary") ?? []]
      .find((each) => each.checkVisibility() && each.tabIndex >= 0);
    if (!control) continue;
    control.focus();
    const what = control.outerHTML.slice(0, 120);
    const whole = part().outerHTML;
    await drawn(part(), whole);
    const isBack = () => document.activeElement.outerHTML.slice(0, 120) === what;
    if (!await soon(isBack)) lost.push(`${id}: ${what} drawn anew`);
    const now = document.activeElement;
    if (now === document.body) continue;
    now.dataset.gone = "";
    const less = new DOMParser().parseFromString(part().outerHTML, "text/html");
    less.querySelector("[data-gone]")?.remove();
    await drawn(part(), less.body.innerHTML);
    if (!await soon(() => document.activeElement !== document.body)) lost.push(`${id}: ${what} gone`);
    await drawn(part(), whole);
  }
  return lost;
}"""
# Every part of a page that asks for itself, by what it does to ask, is answered with this status.
ASK = """async () => {
  const parts = [...document.querySelectorAll("[data-live][hx-get]")];
  for (const part of parts) htmx.trigger(part, "look");
  return parts.map((part) => part.dataset.watch || part.id);
}"""


@pytest.fixture
def place(make: Callable[..., Place]) -> Place:
    return furnish(make)


def watched_pages(place: Place) -> list[str]:
    """Return the pages that have a part which requests itself."""
    client = place.client()
    found = pages_of(client, f"/t/{place.tenant.slug}/")
    texts = {path: read(client, path)[1] for path, status in found.items() if status == 200}
    parts = r'<main(?s:.*)(?:data-live|hx-trigger="load)'
    return [path for path, text in texts.items() if text.lstrip().startswith("<!") and re.search(parts, text)]


def has_focus(page: Page) -> bool:
    return page.evaluate("document.activeElement !== document.body")


def test_no_page_loses_focus_when_a_part_of_it_is_drawn_anew(place: Place, open_page: Callable[..., Page]) -> None:
    page = open_page(place.client())
    paths = watched_pages(place)
    assert len(paths) > 8
    lost = []
    for path in paths:
        page.goto(path)
        lost += [f"{path} {each}" for each in page.evaluate(DRAW)]
    assert lost == []


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focus(page: Page, control: Locator) -> None:
    """Focus a control once no swap is under way, which could replace it."""
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")).to_have_count(0)
    control.focus()
    expect(control).to_be_focused()


@pytest.mark.soak  # on a busy machine, one press of a key in a dozen runs comes while the list is replaced
def test_focus_stays_in_a_list_that_is_sorted_filtered_and_turned(
    make: Callable[..., Place], open_page: Callable[..., Page]
) -> None:
    place = MembersDesk(make(members=60)).place
    page = open_page(place.client())
    page.goto(f"/t/{place.tenant.slug}/members/?size=25")
    region = page.locator(".list-region")
    head = region.locator("th a").first
    name = head.inner_text()
    for sort in ("ascending", "descending"):
        focus(page, head)
        press(page, "Enter")
        expect(region.locator(f"th[aria-sort={sort}] a", has_text=name)).to_be_focused()
    focus(page, page.get_by_role("link", name="Next page"))
    press(page, "Enter")
    expect(region.locator(".pages-range")).to_contain_text("26")
    expect(page.get_by_role("link", name="Next page")).to_be_focused()
    focus(page, page.get_by_role("link", name="Next page"))
    press(page, "Enter")
    expect(page.get_by_role("link", name="Next page")).to_have_count(0)
    expect(region).to_be_focused()
    menu = region.locator("summary").first
    focus(page, menu)
    press(page, "Enter")
    option = menu.locator("xpath=..").locator(".menu-scroll input").first
    expect(option).to_be_visible()
    focus(page, option)
    press(page, "Space")
    expect(region.locator(".filter-on")).to_have_count(1)
    expect(region.locator("summary").first).to_be_focused()
    focus(page, region.locator(".filter-off"))
    press(page, "Enter")
    expect(region.locator(".filter-on")).to_have_count(0)
    assert has_focus(page)


def test_focus_goes_to_the_place_of_a_note_that_is_closed(place: Place, open_page: Callable[..., Page]) -> None:
    page = open_page(place.client())
    page.goto(f"/t/{place.tenant.slug}/members/")
    page.evaluate("""() => {
      const note = "<div class=note id=a-note><button data-dismiss>Close</button></div>";
      document.querySelector("main").insertAdjacentHTML("afterbegin", note);
    }""")
    page.locator("#a-note button").focus()
    press(page, "Enter")
    expect(page.locator("#a-note")).to_have_count(0)
    expect(page.locator("main")).to_be_focused()


@pytest.mark.parametrize("status", [403, 404] if SOAK else [404])
def test_no_part_that_is_gone_is_requested_twice(
    place: Place, open_page: Callable[..., Page], open_tab, status
) -> None:
    open_tab.excused += [f"status of {status}", f"Error Code {status}"]
    page = open_page(place.client())
    paths = watched_pages(place)
    asked: list[str] = []

    def refuse(route):
        part = route.request.headers.get("hx-request") == "true"
        if part:
            asked.append(route.request.url)
        route.fulfill(status=status, body="") if part else route.continue_()

    page.route("**/t/**", refuse)
    parts = set()
    for path in paths:
        asked.clear()
        page.goto(path)
        for _turn in range(3):
            parts |= set(page.evaluate(ASK))
            page.wait_for_timeout(100)
        assert page.locator("[data-live][hx-get]").count() == 0, path
    assert len(parts) > 8
