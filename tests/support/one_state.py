"""What each page that shows a door says of it, in words, as a person reads them."""

import re
from html import unescape

#: Pages of a tenant that show any door; a test adds those of what it made.
PAGES = {
    "board": "devices/?view=board",
    "list": "devices/?view=list",
    "wall": "devices/wall/",
    "overview": "",
}
_CHIP = re.compile(r'<span class="chip chip-\w+"><svg.*?</svg>(.*?)</span></span>|$', re.DOTALL)
#: Where on a page the part begins that is about the door, where its name alone does not tell.
_BEGINS = {
    "door": 'id="door-state"',
    "lockdown": "Known now:",
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
