"""The client's address behind trusted proxies, whose number is a setting, and the name of its browser.

Each proxy appends the address of its caller to X-Forwarded-For. With n trusted proxies, the last n - 1 entries and the
connection's address are proxies. The entry before those is the client as the first proxy saw it. Anything further left
was sent by the client and proves nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpRequest

UNKNOWN = "0.0.0.0"  # noqa: S104 - used if no address is known, never listened on
_ADDRESS_BITS = {4: 32, 6: 64}

_current: ContextVar[str | None] = ContextVar("client_address", default=None)


def client_address(request: HttpRequest, proxies: int) -> str:
    """Return the client's address as the outermost of `proxies` trusted proxies saw it.

    Return the connection's address if there are fewer entries than trusted proxies, or if an entry is invalid: the
    caller bypassed the proxies. Return `UNKNOWN` if there is no address, as over a Unix socket.
    """
    chain = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    forwarded = _normalise(chain[-proxies]) if 0 < proxies <= len(chain) else ""
    return forwarded or _normalise(request.META.get("REMOTE_ADDR", "")) or UNKNOWN


def network_of(address: str) -> str:
    """Return the key by which one client is counted: an IPv4 address, or an IPv6 /64 network.

    One client may use any address of its /64 network.
    """
    found = ipaddress.ip_address(address)
    return str(ipaddress.ip_network((found, _ADDRESS_BITS[found.version]), strict=False).network_address)


def current() -> str | None:
    """Return the client's address of the current request; None in workers and commands."""
    return _current.get()


@contextmanager
def using_address(address: str) -> Iterator[None]:
    """Use this address as the `current` one within the block."""
    token = _current.set(address)
    try:
        yield
    finally:
        _current.reset(token)


def _normalise(text: str) -> str:
    """Return the address in plain form, or an empty text if it is invalid.

    Port, brackets, zone and IPv6 around IPv4 are removed.
    """
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


# Marks in a browser's User-Agent. Most browsers also claim to be Chrome or Safari, so these come last.
_BROWSER_NAMES = {
    "Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "FxiOS": "Firefox", "CriOS": "Chrome",
    "Chrome": "Chrome", "Version": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "CrOS": "ChromeOS", "Windows": "Windows",
    "Mac OS X": "macOS", "Linux": "Linux",
}  # fmt: skip


def describe_browser(user_agent: str) -> str:
    """Return "Firefox 140, Windows"; for an unknown browser, the first 60 characters as sent."""
    system = next((name for mark, name in _SYSTEMS.items() if mark in user_agent), "")
    for mark, name in _BROWSER_NAMES.items():
        if version := re.search(rf"{mark}\w*/(\d{{1,6}})", user_agent):
            return ", ".join(filter(None, (f"{name} {version[1]}", system)))
    return user_agent[:60]
