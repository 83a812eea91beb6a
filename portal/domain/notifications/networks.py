"""Check networks and ports of web addresses: HTTPS in public networks, and networks that the operator allows.

A person who enters an address must not reach systems that only the portal can reach, or scan others' ports.
"""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings

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
