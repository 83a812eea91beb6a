"""Keep secrets out of logs: addresses are logged without their query, which may have OAuth codes and states.

Addresses of guests' codes, webhooks, invitations and password resets are secret. Only their kind is logged.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from tenants import client_addresses

_ADDRESSES = ("request", "path", "url", "referer")
_SECRET_ADDRESS = re.compile(r"/(g|hooks|invitations|reset/key)/[^/\s]+")


def add_address(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Add the client's address to a log event. This is a structlog processor."""
    address = client_addresses.current()
    if address is not None:
        event.setdefault("ip", address)
    return event


def remove_queries(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Remove queries and secret paths of addresses from a log event. This is a structlog processor."""
    for name in _ADDRESSES:
        value = event.get(name)
        if isinstance(value, str):
            event[name] = _SECRET_ADDRESS.sub(r"/\1/…", value.partition("?")[0])
    said = event.get("event")
    if isinstance(said, str):  # Django's own lines about requests have the address in their text
        event["event"] = _SECRET_ADDRESS.sub(r"/\1/…", said)
    return event
