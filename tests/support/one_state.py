"""The state that each page with a door shows for it, in words, as a person reads them."""

import re
from collections.abc import Mapping
from html import unescape

from playwright.sync_api import Page

from tests.support.waiting import until

#: Pages of a tenant that show any door; a test adds pages of things that it created.
PAGES = {
    "board": "devices/?view=board",
    "list": "devices/?view=list",
    "wall": "devices/wall/",
    "overview": "",
}
_CHIP = re.compile(r'<span class="chip chip-\w+"><svg.*?</svg>(.*?)</span></span>|$', re.DOTALL)
#: Where the part about the door begins on a page, where its name alone is not enough to find it.
_BEGINS = {
    "door": 'id="door-state"',
    "alert": 'id="door-state"',
    "lockdown": "Now:",
    "box": 'id="box-state"',
    "key": 'id="key-state"',
    "key of a box": "<dt>Key box</dt>",
    "guest": "総務キーボックス 01",
    "camera": 'id="camera-latest"',
    "intercom of a camera": 'aria-labelledby="intercom-picture"',
}


def said_on(page: str, html: str, name: str) -> str:
    """Return the door's state on a page, with what is wrong in brackets; empty where the page does not show it."""
    _before, _main, part = html.partition("<main")[2].partition(_BEGINS.get(page, f">{name}"))
    if page == "wall" and not re.match(r'</b>\s*<span class="chip', part):
        small = re.match(r"</span> <small>(.*?)</small>", part)
        return unescape(small[1]) if small else _of_chip(part)
    return _of_chip(part)


def _of_chip(part: str) -> str:
    chip = _CHIP.search(part)
    words = [
        unescape(word) for word in re.findall(r'<span(?: class="chip-wrong")?>([^<]*)</span>', chip[0] if chip else "")
    ]
    return f"{words[0]} ({words[1]})" if len(words) > 1 else "".join(words)


class Kept:
    """Pages that a person keeps open, each in a tab of the browser of `page`. None of them is loaded again."""

    def __init__(self, page: Page, addresses: Mapping[str, str]) -> None:
        self.tabs = {name: page.context.new_page() for name in addresses}
        for name, tab in self.tabs.items():
            tab.goto(addresses[name])

    def said(self, name: str) -> dict[str, str]:
        """Return what each page shows for a thing now."""
        return {page: said_on(page, tab.content(), name) for page, tab in self.tabs.items()}

    def look(self) -> None:
        """Bring each tab to the front. Parts of a page that are not updated then stay unchanged."""
        for tab in self.tabs.values():
            tab.evaluate("document.body.dispatchEvent(new Event('update-now'))")

    def come_to_say(self, name: str, state: str, *, not_on: tuple[str, ...] = (), seconds: float = 10) -> None:
        """Wait until all pages show a thing in this state at the same moment; pages in `not_on` show none."""
        wanted = {page: "" if page in not_on else state for page in self.tabs}
        until(lambda: self.said(name) == wanted, seconds, saying=lambda: f"all say {state}: {self.said(name)}")
