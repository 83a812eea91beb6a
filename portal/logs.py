"""What never reaches a log: addresses keep their path and lose their query, where a grant's codes and states travel."""

from collections.abc import Mapping, MutableMapping
from typing import Any

_ADDRESSES = ("request", "path", "url", "referer")


def without_queries(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """A structlog processor."""
    for name in _ADDRESSES:
        value = event.get(name)
        if isinstance(value, str) and "?" in value:
            event[name] = value.partition("?")[0]
    return event
