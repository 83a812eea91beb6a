"""Draw every page of every role on contact sheets: `python docs/guide/contact_sheet.py [WORD ...]`.

Each sheet shows the pages that one person of the demonstration reaches by links, at 1440 or 390 pixels, light or dark,
in one language. Words choose sheets: a role, `1440`, `390`, `light`, `dark`, `en`, `ja`. The sheets are in
`docs/images/contact/`, which is not committed. A page that is wider than the window is printed with its width.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import product
from typing import Any
from urllib.parse import urlsplit

from demonstration import LANGUAGES, ROOT, Demo, pictured, signed_in
from PIL import Image, ImageDraw
from playwright.sync_api import APIResponse, Browser, BrowserContext, Page

OUT = ROOT / "docs" / "images" / "contact"
TENANT = "sakura-building"
SIZES = {"1440": (1440, 900), "390": (390, 844)}
THEMES = ("light", "dark")
THUMBS = {"1440": (480, 300), "390": (234, 506)}
IN_A_ROW = {"1440": 4, "390": 8}
MOST = 150  # pages of a role
CAPTION = 16


def main(words: Sequence[str]) -> None:
    """Draw the sheets that `words` choose; all of them without a word."""
    drawn = 0
    with pictured() as (demo, browser):
        for account, role in _people(demo):
            offered = list(product(SIZES, THEMES, LANGUAGES))
            chosen = [each for each in offered if _is_chosen(words, role, *each)]
            pages = _pages(browser, demo, account) if chosen else []
            for size, theme, language in chosen:
                _draw(browser, demo, account, pages, (role, size, theme, language))
            drawn += len(chosen)
    if not drawn:
        sys.exit(f"No sheet fits: {' '.join(words)}")


def _people(demo: Demo) -> Iterator[tuple[str, str]]:
    """Yield (e-mail address, role) of one person of each role in the tenant and on the platform."""
    for each in demo["accounts"]:
        if each["email"].endswith((f"@{TENANT}.example", "@portal.example")):
            yield each["email"], each["role"].replace(" ", "-")


def _is_chosen(words: Sequence[str], role: str, *variant: str) -> bool:
    """Return whether the sheet has one of the named roles, sizes, themes and languages, where any is named."""
    kinds: tuple[Sequence[str], ...] = (tuple(SIZES), THEMES, tuple(LANGUAGES))
    named = [word for word in words if not any(word in kind for kind in kinds)]
    fits = all(value in words or not set(kind) & set(words) for value, kind in zip(variant, kinds, strict=True))
    return fits and (not named or role in named)


@contextmanager
def _at_work(browser: Browser, demo: Demo, account: str, **look: Any) -> Iterator[BrowserContext]:
    """Yield a signed-in browser. A person of the platform starts a support session, unless one is open."""
    with signed_in(browser, demo, account, **look) as context:
        if account.endswith("@portal.example"):
            page = context.new_page()
            page.goto(f"/platform/enter/{TENANT}/")
            if page.locator("[name=reason]").count():
                page.fill("[name=reason]", "Contact sheets")
                page.press("[name=reason]", "Enter")
                page.wait_for_url(f"**/t/{TENANT}/**")
            page.close()
        yield context


def _pages(browser: Browser, demo: Demo, account: str) -> list[str]:
    """Return the paths of the pages that the person reaches by links, one of each kind, in the order of finding."""
    with _at_work(browser, demo, account, language="en", width=1440, height=900) as context:
        found, waiting, kinds = [], ["/"], {"/"}
        while waiting and len(found) < MOST:
            path = waiting.pop(0)
            answer = context.request.get(path)
            if answer.ok and "text/html" in answer.headers.get("content-type", ""):
                found.append(urlsplit(answer.url).path)
                waiting += _links(answer, kinds)
    return list(dict.fromkeys(found))


def _links(answer: APIResponse, kinds: set[str]) -> Iterator[str]:
    """Yield a path of each kind of page that this page links to. Of the help and of other tenants, one is enough."""
    for href in re.findall(r'<a\b[^>]*?\bhref="([^"#]+)', answer.text()):
        path = urlsplit(href).path
        kind = re.sub(rf"/[^/]*\d[^/]*(?=/|$)|(?<=^/t/)(?!{TENANT}/)[^/]+/.*|(?<=^/help/).+", "/0", path)
        if path.startswith("/") and not path.startswith("/static/") and kind not in kinds:
            kinds.add(kind)
            yield path


def _draw(browser: Browser, demo: Demo, account: str, pages: Sequence[str], name: tuple[str, str, str, str]) -> None:
    _role, size, theme, language = name
    (width, height), thumb, columns = SIZES[size], THUMBS[size], IN_A_ROW[size]
    rows = -(-len(pages) // columns)
    sheet = Image.new("RGB", (columns * (thumb[0] + 8), rows * (thumb[1] + CAPTION + 8)), "white")
    with _at_work(browser, demo, account, language=language, width=width, height=height, theme=theme) as context:
        for n, path in enumerate(pages):
            left, top = (n % columns) * (thumb[0] + 8), (n // columns) * (thumb[1] + CAPTION + 8)
            ImageDraw.Draw(sheet).text((left + 2, top + 2), path.removeprefix(f"/t/{TENANT}"), fill="black")
            sheet.paste(_shot(context, path, width).resize(thumb), (left, top + CAPTION))
    OUT.mkdir(parents=True, exist_ok=True)
    target = OUT / f"{'-'.join(name)}.webp"
    sheet.save(target, quality=80)
    print(f"Drawn: {target.relative_to(ROOT)}, {len(pages)} pages", flush=True)


def _shot(context: BrowserContext, path: str, width: int) -> Any:
    """Return the picture of a page; print when it is wider than its window."""
    page: Page = context.new_page()
    page.goto(path, wait_until="load")
    page.wait_for_timeout(250)
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        print(f"Wider than {width}: {path} ({wide})", flush=True)
    shot = page.screenshot(caret="hide", animations="disabled")
    page.close()
    return Image.open(BytesIO(shot))


if __name__ == "__main__":
    main(sys.argv[1:])
