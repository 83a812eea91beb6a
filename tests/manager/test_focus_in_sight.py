"""Keyboard users always see where they are: no fixed part of the screen covers the focused element."""

import pytest
from playwright.sync_api import Page

from tests.support.changes import ChangesDesk
from tests.support.effort import one_in

# Returns the focused element, and what covers the middle of its upper or lower edge, if anything.
_COVERED = """() => {
  const focused = document.activeElement, box = focused.getBoundingClientRect();
  if (focused === document.body || focused.matches(".skip") || !box.height) return ["", ""];
  const over = [box.top + 2, box.bottom - 2].map((y) => document.elementFromPoint(box.left + box.width / 2, y));
  const stays = over.map((each) => each ? each.closest(".top, .banners, .foot, .bar, .bulk, thead") : document.body);
  const wrong = stays.find((each) => each && !each.contains(focused) || each === document.body);
  return [focused.outerHTML.slice(0, 120), wrong ? wrong.className || wrong.tagName : ""];
}"""


@pytest.fixture
def desk(make) -> ChangesDesk:
    return ChangesDesk(make(members=30))


def walked(page: Page, key: str, steps: int) -> list[tuple[str, str]]:
    found = []
    for _ in range(steps):
        page.keyboard.press(key)
        found.append(tuple(page.evaluate(_COVERED)))
    return found


@pytest.mark.parametrize("width", one_in(2, [390, 1440]))
def test_nothing_focused_lies_under_the_head_or_the_foot(open_page, desk, width):
    page = open_page(desk.client, width=width)
    page.set_viewport_size({"width": width, "height": 560})
    page.goto(f"{desk.url}?size=25")
    page.locator("tbody input[name=id]").first.check()  # the bar of bulk changes is fixed, too
    there, back = walked(page, "Tab", 45), walked(page, "Shift+Tab", 45)
    assert len({each for each, _ in there}) > 40
    assert [each for each in there + back if each[1]] == []
