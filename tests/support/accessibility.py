"""Accessibility problems on a page, as axe finds them."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Two rules that axe does not check by default: a control's name contains its visible text, and is large enough to
# touch.
_RULES = {name: {"enabled": True} for name in ("label-content-name-mismatch", "target-size")}
# Without `preload`, axe does not insert our style sheets into the page a second time. It reports only problems, not
# each element that passed.
_OPTIONS = {"preload": False, "reporter": "no-passes", "rules": _RULES}
_SERIOUS = ("serious", "critical")


def barriers(page: Page, *, every: bool = False) -> list[str]:
    """Return the serious problems that axe finds, or with `every` all of them: the rule and the first elements.

    During the check the window is as tall as the page, with room for another banner. Otherwise a link half hidden by
    the footer or the banners would count as too small a target. (tests/manager/test_focus_in_sight.py checks that no
    focused element stays hidden there.)
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
