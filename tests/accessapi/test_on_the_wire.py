"""Over real sockets: "not sent" means that not one byte was sent; any other failure is reported as unknown."""

import gzip
import socket
import subprocess
import sys
import time

import pytest

from accessapi.errors import (
    ConnectionLost,
    Invalid,
    NotSent,
    OutcomeUnknown,
    TimedOut,
    UnexpectedStatus,
    UnreadableAnswer,
)
from accessapi.oauth import OAuth
from accessapi.transport import ConnectionPool, ServiceTransport
from tests.accessapi.service import LICENCE, TOKEN, Loopback, answer, client, reset
from tests.support.waiting import until

UNLOCK = {"tag": "lock_operation", "control": "unlock"}
ACCEPTED = answer(body=b'{"request_id": "r1", "request_type": "device_request"}')


def ok(connection, request):
    connection.sendall(ACCEPTED)


@pytest.fixture
def pool():
    pool = ConnectionPool()
    yield pool
    pool.close()


def quick(pool, **kwargs):
    return ServiceTransport(pool, read_seconds=kwargs.pop("read_seconds", 0.3), **kwargs)


def unlock(service, transport, **kwargs):
    with client(service if isinstance(service, str) else service.url, transport=transport) as door:
        return door.call("operate_door", path={"device_id": "d1"}, body=UNLOCK, **kwargs)


def test_a_refused_connection_is_not_sent(pool):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(NotSent) as caught:
        unlock(f"http://127.0.0.1:{port}", pool)
    assert caught.value.reason == "connect_failed"


def test_a_failed_handshake_is_not_sent(pool):
    def not_tls(connection, request):
        return "close"

    with Loopback(not_tls) as service:
        with pytest.raises(NotSent):
            unlock(service.url.replace("http:", "https:"), pool)
        assert TOKEN.encode() not in b"".join(service.received)


def test_a_refusal_right_before_writing_leaves_not_one_byte(pool):
    class TooLate(Exception):
        pass

    def refuse():
        raise TooLate

    with Loopback(ok) as service:
        for fresh in (True, False):
            with pytest.raises(NotSent) as caught:
                unlock(service, pool, fresh=fresh, before_write=refuse)
            assert isinstance(caught.value.__cause__, TooLate)
        assert service.counts(2)
        until(lambda: service.ended == 2)
        assert service.received == []


def test_the_last_word_before_writing_comes_once_the_connection_stands(pool):
    with Loopback(ok) as service:
        seen = []

        def last_word():
            seen.append((service.counts(len(seen) + 1), len(service.received)))

        unlock(service, pool, fresh=True, before_write=last_word)
        unlock(service, pool, fresh=True, before_write=last_word)
        assert seen == [(True, 0), (True, 1)]


def test_a_refusal_on_a_kept_connection_leaves_not_one_byte_either(pool):
    def refuse():
        raise RuntimeError("too late")

    with Loopback(ok) as service:
        unlock(service, pool)
        with pytest.raises(NotSent):
            unlock(service, pool, before_write=refuse)
        unlock(service, pool)
        assert len(service.received) == 2


def test_a_black_hole_after_the_write_is_unknown_and_the_socket_is_aborted_at_once(pool):
    """Check that the socket is aborted: after a close, the kernel could still deliver the abandoned command."""
    closed = []

    def swallow(connection, request):
        try:
            closed.append(connection.recv(1))
        except ConnectionResetError:
            closed.append("reset")

    with Loopback(swallow) as service:
        started = time.monotonic()
        with pytest.raises(TimedOut):
            unlock(service, quick(pool))
        assert time.monotonic() - started < 20
        assert until(lambda: closed) == ["reset"]
        assert len(service.received) == 1


@pytest.mark.parametrize("fresh", [True, False])
def test_a_reset_after_the_request_is_unknown_and_not_sent_again(pool, fresh):
    with Loopback(lambda connection, request: reset(connection)) as service:
        with pytest.raises(ConnectionLost):
            unlock(service, pool, fresh=fresh)
        assert len(service.received) == 1


def test_a_connection_closed_without_an_answer_is_unknown(pool):
    with Loopback(lambda connection, request: "close") as service:
        with pytest.raises(ConnectionLost):
            unlock(service, pool)
        assert len(service.received) == 1


def test_a_body_cut_short_is_unknown(pool):
    def short(connection, request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        return "close"

    with Loopback(short) as service, pytest.raises(ConnectionLost):
        unlock(service, pool)


def test_a_documented_refusal_stands_even_when_its_body_is_cut_short(pool):
    def short(connection, request):
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\n{")
        return "close"

    with Loopback(short) as service, pytest.raises(Invalid):
        unlock(service, pool)


def test_an_answer_that_is_not_http_is_unknown(pool):
    def babble(connection, request):
        connection.sendall(b"220 smtp.example ESMTP\r\n\r\n")
        return "close"

    with Loopback(babble) as service, pytest.raises(OutcomeUnknown):
        unlock(service, pool)


@pytest.mark.parametrize("part", ["head", "body"])
def test_a_server_that_drips_bytes_does_not_hold_a_worker(pool, part):
    def drip(connection, request):
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        if part == "body":
            connection.sendall(b"Content-Length: 9000\r\n\r\n")
        for _ in range(1000):  # most of a minute
            connection.sendall(b"x")
            time.sleep(0.05)

    with Loopback(drip) as service:
        started = time.monotonic()
        with pytest.raises(TimedOut):
            unlock(service, quick(pool, answer_seconds=0.4))
        assert time.monotonic() - started < 20


def test_fresh_calls_use_a_new_connection_each_and_close_it(pool):
    with Loopback(ok) as service:
        for expected in (1, 2, 3):
            unlock(service, pool, fresh=True)
            assert service.connections == expected
        assert b"\r\nConnection: close\r\n" in service.received[0]


def test_a_fresh_call_leaves_a_kept_connection_alone(pool):
    with Loopback(ok) as service:
        unlock(service, pool)
        unlock(service, pool, fresh=True)
        assert service.connections == 2


def test_other_calls_share_a_connection(pool):
    with Loopback(ok) as service:
        for _ in range(3):
            unlock(service, pool)
        assert service.connections == 1


def test_redirects_are_not_followed(pool):
    with Loopback(ok) as elsewhere:

        def redirect(connection, request):
            connection.sendall(answer(307, headers=[f"Location: {elsewhere.url}/"]))

        with Loopback(redirect) as service, pytest.raises(UnexpectedStatus):
            unlock(service, pool)
        assert elsewhere.connections == 0


def test_a_server_fault_is_not_retried(pool):
    with Loopback(lambda connection, request: connection.sendall(answer(503))) as service:
        with pytest.raises(OutcomeUnknown):
            unlock(service, pool)
        assert len(service.received) == 1


def test_cookies_are_neither_kept_nor_sent(pool):
    def cookie(connection, request):
        connection.sendall(answer(body=b'{"request_id": "r"}', headers=["Set-Cookie: who=tenant-a"]))

    with Loopback(cookie) as service:
        unlock(service, pool)
        unlock(service, pool)
        assert b"tenant-a" not in service.received[1]


def test_an_endless_answer_is_cut_off(pool):
    def flood(connection, request):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * 65536)

    with Loopback(flood) as service, pytest.raises(UnreadableAnswer):
        unlock(service, ServiceTransport(pool, answer_max=1_000_000))


def test_a_compressed_bomb_is_cut_off(pool):
    bomb = gzip.compress(b'{"request_id": "r9"' + b" " * 50_000_000 + b"}")

    def explode(connection, request):
        connection.sendall(answer(body=bomb, headers=["Content-Encoding: gzip"]))

    with Loopback(explode) as service, pytest.raises(UnreadableAnswer):
        unlock(service, pool)


def test_a_compressed_answer_is_read_and_a_broken_one_is_unknown(pool):
    bodies = [gzip.compress(b'{"request_id": "r9"}'), b"not gzip"]

    def compressed(connection, request):
        connection.sendall(answer(body=bodies.pop(0), headers=["Content-Encoding: gzip"]))

    with Loopback(compressed) as service:
        assert unlock(service, pool).value.request_id == "r9"
        with pytest.raises(UnreadableAnswer):
            unlock(service, pool)


def test_the_request_is_what_the_specification_says(pool):
    with Loopback(ok) as service:
        unlock(service, pool)
        head, _, body = service.received[0].partition(b"\r\n\r\n")
        assert head.startswith(b"POST /v1/devices/passes/d1/requests HTTP/1.1\r\n")
        assert f"\r\nAuthorization: Bearer {TOKEN}".encode() in head
        assert f"\r\nLicense-Key: {LICENCE}".encode() in head
        assert b"\r\nContent-Type: application/json" in head
        assert body == b'{"tag":"lock_operation","control":"unlock"}'


def test_a_proxy_of_the_environment_is_not_used(pool, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with Loopback(ok) as service:
        unlock(service, pool)
        with pytest.raises(OutcomeUnknown):  # {"request_id"} is no token, but the call arrived
            oauth(service.url).exchange("code")
        assert len(service.received) == 2


def oauth(url):
    return OAuth(base_url=url, client_id="c", client_secret="s", redirect_uri="http://p/cb")


def test_an_exchange_whose_answer_is_lost_is_unknown_and_made_once():
    with Loopback(lambda connection, request: reset(connection)) as service:
        with pytest.raises(ConnectionLost):
            oauth(service.url).exchange("code")
        assert len(service.received) == 1


KILLED = """
import sys
from accessapi.client import Client
from accessapi.overrides import Catalogue
with Client(base_url=sys.argv[1], catalogue=Catalogue(), token=lambda: "t", licence_key=lambda: "l") as service:
    service.call("operate_door", path={"device_id": "d1"}, body={"tag": "lock_operation", "control": "unlock"})
"""


def test_what_a_killed_process_had_not_delivered_is_dropped_with_it():
    ends = []

    def standing_still(connection, request):
        child.kill()
        try:
            ends.append(connection.recv(1))
        except ConnectionResetError:
            ends.append("reset")
        return "close"

    with Loopback(standing_still) as service:
        child = subprocess.Popen([sys.executable, "-c", KILLED, service.url])
        until(lambda: ends, saying="the killed process's connection ends")
        child.wait()
    assert ends == ["reset"]
