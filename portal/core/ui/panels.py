"""Panels that areas of work add to a page whose own code knows no area, such as that of the connection.

An area registers a function in its `AppConfig.ready()`; `{% panels "connection" %}` draws what is registered for a
page, in the order of registration. A function takes the request and returns HTML, or an empty text for nothing.
"""

from collections.abc import Callable, Iterator

from django.utils.safestring import SafeString

from portal.core.ui import batching
from tenants.access import TenantRequest

Panel = Callable[[TenantRequest], SafeString]
_panels: dict[str, dict[str, Panel]] = {}
_queries: dict[str, set[str]] = {}


def register(page: str, panel: Panel, *, query: str = "") -> None:
    """Add a panel to a page; a second registration of the same function replaces the first.

    `query` names what it is drawn from, where that is asked along with what every page asks (`together`).
    """
    _panels.setdefault(page, {})[f"{panel.__module__}.{panel.__qualname__}"] = panel
    _queries.setdefault(page, set()).update({query} - {""})


def prefetch(page: str, request: TenantRequest) -> None:
    """Have a page ask for what its panels are drawn from along with what every page asks."""
    for name in _queries.get(page, ()):
        batching.prefetch(request, name)


def draw(page: str, request: TenantRequest) -> Iterator[SafeString]:
    """Draw the panels of a page."""
    return (panel(request) for panel in _panels.get(page, {}).values())
