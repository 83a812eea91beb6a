"""Panels that areas of work add to a page of another area, such as the connection page.

An area registers a function in its `signals.py`; `{% panels "connection" %}` draws a page's panels in the order
of registration. A function takes the request and returns HTML, or "" for nothing.
"""

from collections.abc import Callable, Iterator

from django.utils.safestring import SafeString

from portal.base.ui import batching
from tenants.access import TenantRequest

Panel = Callable[[TenantRequest], SafeString]
_panels: dict[str, dict[str, Panel]] = {}
_queries: dict[str, set[str]] = {}


def register(page: str, panel: Panel, *, query: str = "") -> None:
    """Add a panel to a page; a later registration of the same function replaces the earlier one.

    `query` names the rows it needs, if they are loaded with those of every page (`batching`).
    """
    _panels.setdefault(page, {})[f"{panel.__module__}.{panel.__qualname__}"] = panel
    _queries.setdefault(page, set()).update({query} - {""})


def prefetch(page: str, request: TenantRequest) -> None:
    """Load the rows that a page's panels need together with those that every page loads."""
    for name in _queries.get(page, ()):
        batching.prefetch(request, name)


def draw(page: str, request: TenantRequest) -> Iterator[SafeString]:
    """Yield the HTML of a page's panels."""
    return (panel(request) for panel in _panels.get(page, {}).values())
