"""Every page fits a phone, begins with its content, and has no barrier that axe finds, in dark and in Japanese.

It needs a browser, because only a browser lays a page out, and visits each kind of page of a tenant with data in most
areas. A soak repeats it at both widths, in both themes and languages.
"""

from collections.abc import Callable
from itertools import product

import pytest
from django.test import Client
from playwright.sync_api import Page

from tests.support.accessibility import barriers
from tests.support.effort import SOAK
from tests.support.filled_tenants import furnish, pages_of, read
from tests.support.places import Place

VARIANTS = [
    pytest.param(*each, marks=[] if each == (390, "dark", "ja-JP") else pytest.mark.soak)
    for each in product((390, 1440), ("light", "dark"), ("en-GB", "ja-JP"))
]


def is_page(client: Client, path: str) -> bool:
    """Return whether a browser shows this as a page: no file and no part of a page."""
    return read(client, path)[1].lstrip().lower().startswith("<!doctype")


#: What is above a page's content: its head, the ways to other pages, filters, and what is not known.
ABOVE = "header, nav:not(.tallies), .filters, .list-tools, [role=search], .messages, .note, .log-known"
CONTENT = (
    "tbody tr, .panel, .card-flat, .tile, .tally, .blank, .outcome, .home-head, .building-count, .roll-headline,"
    ".guest-code, .face-page, dl, ul, ol, img, svg.plan, .field, form .btn"
)
FIRST = """([content, above]) => Math.min(...[...document.querySelectorAll(`main :is(${content})`)]
    .filter(each => !each.closest(above) && each.offsetParent !== null || each.matches('svg.plan'))
    .map(each => each.getBoundingClientRect().top + scrollY))"""
LOWEST = 300  # pixels, of the first content on a phone


@pytest.mark.parametrize(("width", "theme", "language"), VARIANTS)
def test_no_page_scrolls_sideways_begins_late_or_has_a_barrier(
    make: Callable[..., Place], open_page: Callable[..., Page], width: int, theme: str, language: str
) -> None:
    place = furnish(make)
    client = place.client()
    found = pages_of(client, f"/t/{place.tenant.slug}/")
    paths = [path for path, status in found.items() if status == 200 and is_page(client, path)]
    assert len(paths) > 40
    page = open_page(client, width=width, locale=language, color_scheme=theme)
    wrong = []
    for path in paths:
        page.goto(path)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            wrong.append(f"{path}: {wide} pixels wide")
        first = page.evaluate(FIRST, [CONTENT, ABOVE])
        if width < 720 and LOWEST < first < float("inf"):
            wrong.append(f"{path}: its content begins at {first} pixels")
        wrong += [f"{path}: {each}" for each in barriers(page, every=SOAK)]
    assert wrong == [], "\n".join(wrong)
