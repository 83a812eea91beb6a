"""What never reaches a log: addresses keep their path and lose their query, where a grant's codes and states travel.

The addresses of a guest's code, of a tenant's webhook, of an invitation and of a new password are secrets: of them
nothing is kept but what they were.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from tenants import client_addresses

_ADDRESSES = ("request", "path", "url", "referer")
_SECRET_ADDRESS = re.compile(r"/(g|hooks|invitations|reset/key)/[^/\s]+")


def add_address(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """A structlog processor: whose request a line is about."""
    address = client_addresses.current()
    if address is not None:
        event.setdefault("ip", address)
    return event


def remove_queries(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """A structlog processor."""
    for name in _ADDRESSES:
        value = event.get(name)
        if isinstance(value, str):
            event[name] = _SECRET_ADDRESS.sub(r"/\1/…", value.partition("?")[0])
    said = event.get("event")
    if isinstance(said, str):  # Django's own lines about requests have the address in their words
        event["event"] = _SECRET_ADDRESS.sub(r"/\1/…", said)
    return event
