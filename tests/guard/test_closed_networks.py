"""The networks in which a web address for alerts may be."""

import socket

import pytest

from portal.domain.notifications import posting

CLOSED = """
127.0.0.1 10.1.2.3 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1 255.255.255.255
192.0.0.8 198.18.0.1 192.88.99.1 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fec0::1 ff02::1 ::ffff:10.0.0.1 ::ffff:8.8.8.8
::10.0.0.1 64:ff9b::a00:1 64:ff9b:1::1 2002:a00:1::1 2001::1 2001:db8::1 3fff::1 3fff:fff::1 5f00::1 100::1 4000::1
"""


@pytest.mark.parametrize("address", CLOSED.split())
def test_a_network_that_is_not_public_is_closed(address):
    assert not posting.may_reach(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111"])
def test_public_ones_are_open(address):
    assert posting.may_reach(address)


def test_a_name_is_refused_of_which_one_address_leads_there(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(posting.NetworkRefused):
        posting.resolve_host("chat.example.test", 443)
