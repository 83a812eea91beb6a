"""Browser security: the headers and markup of every page work with a strict policy.

The journeys check that no page breaks its own policy.
"""

import re

from tests.support.crawl import crawl
from tests.support.doors import real_doors
from tests.support.in_process_browser import Inside
from tests.support.isolation import unlocking, url
from tests.support.places import Place

# What a strict policy would not run, so that nothing may rely on it.
INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)(?![^>]*type=\"application/json\")|<style|\son\w+=\"|\sstyle=\"|href=\"javascript:"
)


def test_every_page_is_strict_and_kept_by_nobody(place: Place) -> None:
    unlocking(place, real_doors(place)[0])
    with Inside(place.owner) as browser:
        pages = crawl(browser, url(place), within=url(place), most=60)
        pages |= {path: browser.get(path) for path in ("/accounts/login/", "/accounts/email/", "/t/nobody/")}
    assert len(pages) > 10
    wrong = []
    for path, page in pages.items():
        policy = page.headers.get("content-security-policy", "")
        if "default-src 'none'" not in policy or "unsafe" in policy:
            wrong.append(f"{path}: policy {policy!r}")
        if path.startswith("/t/") and "no-store" not in page.headers.get("cache-control", ""):
            wrong.append(f"{path}: cache {page.headers.get('cache-control')!r}")
        if "geolocation=()" not in page.headers.get("permissions-policy", ""):
            wrong.append(f"{path}: may use what the portal does not need")
        if page.headers.get("x-content-type-options") != "nosniff":
            wrong.append(f"{path}: may be sniffed")
        if "text/html" in page.headers.get("content-type", "") and (found := INLINE.search(page.text)):
            wrong.append(f"{path}: {page.text[found.start() : found.start() + 80]!r}")
    assert not wrong, "\n".join(wrong)
