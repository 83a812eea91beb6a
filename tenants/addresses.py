"""Where a request comes from: the client's own address, behind as many proxies as are known to stand before the site.

Each proxy adds the address that it was asked from to X-Forwarded-For. With n trusted proxies the last n - 1 of them and
the connection itself are theirs, and the entry before those is what the first of them saw: the client. Whatever stands
further left was sent by the client and says nothing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpRequest

UNKNOWN = "0.0.0.0"  # noqa: S104 - said where no address is known, never listened on
_ADDRESS_BITS = {4: 32, 6: 64}

_current: ContextVar[str | None] = ContextVar("client_address", default=None)


def client_address(request: HttpRequest, proxies: int) -> str:
    """The client's address as the outermost of that many trusted proxies saw it.

    The address of the connection when fewer proxies told than are trusted, or told nothing readable: what somebody
    says who came past them is not believed. `UNKNOWN` where there is none, as over a socket of the machine itself.
    """
    chain = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    told = _readable(chain[-proxies]) if 0 < proxies <= len(chain) else ""
    return told or _readable(request.META.get("REMOTE_ADDR", "")) or UNKNOWN


def network_of(address: str) -> str:
    """What one client is counted by: an IPv4 address, or the /64 from which one client may take any address."""
    found = ipaddress.ip_address(address)
    return str(ipaddress.ip_network((found, _ADDRESS_BITS[found.version]), strict=False).network_address)


def current() -> str | None:
    """The client's address of the request that is being answered; None in workers and commands."""
    return _current.get()


@contextmanager
def answering(address: str) -> Iterator[None]:
    """For the length of the block, `current` is this address."""
    token = _current.set(address)
    try:
        yield
    finally:
        _current.reset(token)


def _readable(text: str) -> str:
    """The address in its plain form, without port, brackets, zone, or IPv6 around IPv4. Empty if it is none."""
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
