"""What never reaches a log: addresses keep their path and lose their query, where a grant's codes and states travel.

The address of a guest's code is a secret as a whole: of it nothing is kept but that it was one.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from tenants import addresses

_ADDRESSES = ("request", "path", "url", "referer")
_GUEST_CODE = re.compile(r"/g/[^/\s]+")


def with_address(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """A structlog processor: whose request a line is about."""
    address = addresses.current()
    if address is not None:
        event.setdefault("ip", address)
    return event


def without_queries(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """A structlog processor."""
    for name in _ADDRESSES:
        value = event.get(name)
        if isinstance(value, str) and ("?" in value or "/g/" in value):
            event[name] = _GUEST_CODE.sub("/g/…", value.partition("?")[0])
    said = event.get("event")
    if isinstance(said, str) and "/g/" in said:  # Django's own lines about requests have the address in their words
        event["event"] = _GUEST_CODE.sub("/g/…", said)
    return event
