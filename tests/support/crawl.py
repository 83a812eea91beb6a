"""Walk the site as a person could: every address of the URLconf, every link and form of its pages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from django.urls import URLPattern, URLResolver, get_resolver

from tests.support.browser import Browser

#: Parameters that identify nothing of a tenant: the format of a file.
PLAIN = {"picture": "svg", "paper": "badge", "sheet": "csv", "spoken": "en"}
_PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")


@dataclass(frozen=True)
class Address:
    """One pattern of the URLconf: its name with the namespace, its route and its view."""

    name: str
    route: str
    view: Any

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Return its parameters besides the tenant, as (converter, name)."""
        return tuple((kind or "str", name) for kind, name in _PARAMETER.findall(self.route) if name != "tenant")

    def path(self, slug: str, values: Mapping[str, str]) -> str:
        """Return the path with `values` by parameter name."""
        return "/" + _PARAMETER.sub(lambda found: values.get(found[2], slug), self.route)

    def path_by_kind(self, slug: str, values: Mapping[str, str]) -> str:
        """Return the path with `values` by converter; the tenant's slug for a tenant, "1" for all others."""
        named = {name: values.get(kind, "1") for kind, name in self.parameters if (kind, name) != ("slug", "slug")}
        return self.path(slug, named)


def addresses(below: tuple[str, ...] = ("",)) -> list[Address]:
    """Return every address whose route begins with one of these."""
    return [each for each in _all(get_resolver()) if each.route.startswith(below)]


def addresses_of_tenants() -> list[Address]:
    """Return every address under /t/."""
    return addresses(("t/",))


def _all(resolver: URLResolver, prefix: str = "", space: str = "") -> Iterator[Address]:
    for entry in resolver.url_patterns:
        route = prefix + _plain(str(entry.pattern))
        if isinstance(entry, URLResolver):
            yield from _all(entry, route, f"{space}{entry.namespace}:" if entry.namespace else space)
        elif isinstance(entry, URLPattern):
            yield Address(f"{space}{entry.name or ''}", route, entry.callback)


def _plain(pattern: str) -> str:
    """Turn a regular expression of an address into a route like the others, with its groups as parameters."""
    named = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^)]*\))*\)", r"<\1>", pattern)
    return named.strip("^$").replace("\\", "") if "(?P" in pattern else pattern


def crawl(browser: Browser, start: str, *, within: str, most: int = 150) -> dict[str, httpx2.Response]:
    """Read every page that links lead to from `start` and whose path begins with `within`, once each."""
    found: dict[str, httpx2.Response] = {}
    waiting = [start]
    while waiting and len(found) < most:
        path = waiting.pop(0)
        if path in found:
            continue
        page = browser.get(path)
        found[path] = page
        if "text/html" not in page.headers.get("content-type", ""):
            continue
        for link in re.findall(r'(?:href|hx-get|data-href)="([^"#]+)', page.text):
            link = link.replace("&amp;", "&")
            target = str(page.url.join(link)).removeprefix(browser.url)
            # Only one page and one sort order of a list: further ones show the same kind of page.
            if target.startswith(within) and target not in found and target.count("=") <= 1:
                waiting.append(target)
    return found
