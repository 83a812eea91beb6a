"""What stands in the way of people who cannot see or point well, as axe finds it on a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Two rules that axe leaves off: a control is called what it shows, and is large enough for a finger.
_RULES = {name: {"enabled": True} for name in ("label-content-name-mismatch", "target-size")}
# Without `preload` it does not put our style sheets into the page a second time; it describes only what it finds fault
# with, not each element that passed.
_OPTIONS = {"preload": False, "reporter": "no-passes", "rules": _RULES}
_SERIOUS = ("serious", "critical")


def barriers(page: Page, *, every: bool = False) -> list[str]:
    """Return what axe finds serious, or with `every` all that it finds: the rule and the first places.

    The window is as tall as the page meanwhile, with room for a banner that comes: a link that scrolling leaves half
    under the footer or the banners would count as half a target. (That nothing focused stays there is
    tests/manager/test_focus_in_sight.py.)
    """
    size = page.viewport_size
    assert size
    page.set_viewport_size({**size, "height": page.evaluate("document.documentElement.scrollHeight") + 200})
    found = Axe().run(page, options=_OPTIONS).response["violations"]
    page.set_viewport_size(size)
    return [
        f"{each['id']}: {[node['html'][:160] for node in each['nodes'][:3]]}"
        for each in found
        if every or each["impact"] in _SERIOUS
    ]
