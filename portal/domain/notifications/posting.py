"""Post a message as signed JSON to a web address of the tenant, once, to exactly the IP address that was checked.

It goes to HTTPS in public networks, and to networks that the operator allows. A person who enters an address must not
reach systems that only the portal can reach, or scan others' ports.
"""

import hashlib
import hmac
import json
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from accessapi.errors import NotSent, OutcomeUnknown
from accessapi.transport import ConnectionPool, ServiceTransport
from portal.base.timers.clock import database_now
from portal.domain.notifications.mailing import DeliveryOutcome
from portal.domain.notifications.models import OutgoingMessage, WebAddress
from tenants.models import current_tenant

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network

# All public IPv6 addresses. Mapped and translated IPv4 addresses, segment routing and closed networks are outside.
_PUBLIC = ip_network("2000::/3")
# Public by number, but they lead elsewhere: relays, translators, addresses of protocols, examples in documents.
_RELAY_NETWORKS: tuple[IpNetwork, ...] = tuple(
    map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "100.64.0.0/10", "2001::/23", "2002::/16", "3fff::/20"))
)

HTTPS_PORT = 443


class NetworkRefused(Exception):
    """The portal does not post to the network or the port of this address."""


class HostNotFound(Exception):
    """The name has no address now."""


def may_reach(text: str, port: int = HTTPS_PORT) -> bool:
    """Return True if the portal posts to an IP address: any port in the operator's networks, else only HTTPS_PORT."""
    address = ip_address(text.partition("%")[0])
    if _is_in(address, settings.ALERT_NETWORKS):
        return True
    if port != HTTPS_PORT or (address.version == 6 and address not in _PUBLIC):
        return False
    special = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    private = address.is_private or address.is_link_local or not address.is_global
    return not (special or private or _is_in(address, _RELAY_NETWORKS))


def resolve_host(host: str, port: int) -> list[str]:
    """Resolve a name and return its addresses.

    Raises HostNotFound, or NetworkRefused if one of the addresses is not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise HostNotFound from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses:
        raise HostNotFound
    if not all(may_reach(each, port) for each in addresses):
        raise NetworkRefused
    return addresses


def is_refused_ip_address(host: str, port: int) -> bool:
    """Return True if a host is an IP address, in any spelling, that is not allowed. Does not use a name server."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return False
    return not all(may_reach(str(each[4][0]), port) for each in found)


def _is_in(address: IpAddress, networks: Sequence[IpNetwork]) -> bool:
    return any(address in each for each in networks if each.version == address.version)


SIGNATURE = "X-Alert-Signature"
_READ_SECONDS, _ANSWER_SECONDS, _ANSWER_MAX = 5.0, 10.0, 64 * 1024


def post(address: WebAddress, text: str, message: OutgoingMessage) -> DeliveryOutcome:
    """Post a message's text to a web address. Redirects are not followed, and only the status of the answer counts."""
    try:
        status = _post_body(address, _body(address, text), message)
    except NetworkRefused:
        return DeliveryOutcome.failed("network refused")
    except HostNotFound:
        return DeliveryOutcome.failed_for_now("name not found")
    except NotSent as error:
        return DeliveryOutcome.failed_for_now(error.reason)
    except OutcomeUnknown as error:
        return (
            DeliveryOutcome.sent(_status_text(error.status))
            if _is_success(error.status)
            else DeliveryOutcome.uncertain("no answer")
        )
    if _is_success(status):
        return DeliveryOutcome.sent(_status_text(status))
    return (
        DeliveryOutcome.failed_for_now(_status_text(status))
        if status == 429 or status >= 500
        else DeliveryOutcome.failed(_status_text(status))
    )


def sign(secret: str, at: int, body: bytes) -> str:
    """Return the signature of a moment and a body: HMAC-SHA256 of "moment.body", in hexadecimal digits."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def _post_body(address: WebAddress, body: bytes, message: OutgoingMessage) -> int:
    """Post the body and return the status of the answer. Each try uses the next of the name's IP addresses."""
    parts = urlsplit(address.url)
    found = resolve_host(parts.hostname or "", parts.port or 443)
    pool = ConnectionPool(max_idle=0, address=found[message.attempts % len(found)])
    at = int(database_now().timestamp())
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Accept-Encoding": "identity",
        "User-Agent": "access-portal",
        "X-Alert-Delivery": str(message.pk),
        SIGNATURE: sign(address.secret, at, body),
    }
    try:
        wire = ServiceTransport(
            pool, read_seconds=_READ_SECONDS, answer_seconds=_ANSWER_SECONDS, answer_max=_ANSWER_MAX
        )
        return wire.handle_request(httpx2.Request("POST", address.url, headers=headers, content=body)).status_code
    finally:
        pool.close()


def _body(address: WebAddress, text: str) -> bytes:
    card = {"type": "AdaptiveCard", "version": "1.2", "body": [{"type": "TextBlock", "text": text, "wrap": True}]}
    kind = "application/vnd.microsoft.card.adaptive"
    shapes: dict[str, dict[str, Any]] = {
        WebAddress.Shape.TEXT: {"text": text},
        WebAddress.Shape.CARD: {"type": "message", "attachments": [{"contentType": kind, "content": card}]},
        WebAddress.Shape.LINE_WORKS: {"title": current_tenant().name, "body": {"text": text}},
    }
    return json.dumps(shapes[address.shape], ensure_ascii=False).encode()


def _is_success(status: int | None) -> bool:
    return status is not None and 200 <= status <= 299


def _status_text(status: int | None) -> str:
    return f"HTTP {status}"
