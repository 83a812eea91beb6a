"""The promise tests rely on the proxy: its faults must do what their docstrings claim."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from tests.support import faults
from tests.support.faults import Gate
from tests.support.proxy import HttpProxy


class _Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.arrived.append(body)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.send_header("x-rate-limit-remaining", "9")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    server.arrived = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def between(upstream: ThreadingHTTPServer) -> Iterator[HttpProxy]:
    with HttpProxy(upstream.server_address[1]) as proxy:
        yield proxy


def post(proxy: HttpProxy, path: str = "/v1/x", seconds: float = 5) -> httpx2.Response:
    return httpx2.post(proxy.url + path, content=b"hello", timeout=seconds)


def test_it_passes_on_and_counts(between: HttpProxy, upstream: ThreadingHTTPServer) -> None:
    with httpx2.Client() as client:
        for _ in range(3):
            assert client.post(between.url + "/v1/x", content=b"hello").content == b"hello"
    assert (between.count("POST /v1/x"), between.count("GET"), len(upstream.arrived)) == (3, 0, 3)


def test_a_reset_before_reaches_nobody_and_a_reset_after_does(
    between: HttpProxy, upstream: ThreadingHTTPServer
) -> None:
    with between.during("POST", faults.reset_before), pytest.raises(httpx2.TransportError):
        post(between)
    assert upstream.arrived == []
    with between.during("POST", faults.reset_after), pytest.raises(httpx2.TransportError):
        post(between)
    assert upstream.arrived == [b"hello"]


def test_black_holes(between: HttpProxy, upstream: ThreadingHTTPServer) -> None:
    with between.during("POST", faults.swallow), pytest.raises(httpx2.ReadTimeout):
        post(between, seconds=0.3)
    assert upstream.arrived == []
    with between.during("POST", faults.swallow_answer), pytest.raises(httpx2.ReadTimeout):
        post(between, seconds=0.3)
    assert upstream.arrived == [b"hello"]


def test_a_standstill_delivers_after_an_ordinary_close(between: HttpProxy, upstream: ThreadingHTTPServer) -> None:
    with between.during("POST", faults.network_standstill), pytest.raises(httpx2.ReadTimeout):
        post(between, seconds=0.3)
    end = time.monotonic() + 5
    while not upstream.arrived and time.monotonic() < end:
        time.sleep(0.02)
    assert upstream.arrived == [b"hello"]


def test_answers_and_headers_are_replaced(between: HttpProxy, upstream: ThreadingHTTPServer) -> None:
    with between.during("POST", faults.answer(503, b"no"), times=1):
        assert post(between).status_code == 503
        assert post(between).status_code == 200
    with between.during("POST", faults.answer(500, applied=True), skip=1):
        assert [post(between).status_code for _ in range(2)] == [200, 500]
    assert len(upstream.arrived) == 3
    with between.during("POST", faults.headers(x_rate_limit_remaining="-1")):
        assert post(between).headers["x-rate-limit-remaining"] == "-1"
    with between.during("POST", faults.truncate(2)), pytest.raises(httpx2.RemoteProtocolError):
        post(between)


def test_a_gate_tells_of_the_request_and_holds_it(between: HttpProxy, upstream: ThreadingHTTPServer) -> None:
    gate = Gate()
    rule = between.on("POST", gate)
    answers: list[int] = []
    sender = threading.Thread(target=lambda: answers.append(post(between).status_code))
    sender.start()
    rule.wait()
    assert (answers, upstream.arrived) == ([], [])
    gate.open.set()
    sender.join()
    assert (answers, upstream.arrived) == ([200], [b"hello"])


def test_it_refuses_and_comes_back_on_the_same_port(between: HttpProxy) -> None:
    with between.down(), pytest.raises(httpx2.ConnectError):
        post(between)
    assert post(between).status_code == 200


def test_connections_hang_while_stalled(between: HttpProxy) -> None:
    with between.stalled(), pytest.raises(httpx2.ConnectTimeout):
        post(between, seconds=0.5)
    started = time.monotonic()
    assert post(between).status_code == 200
    assert time.monotonic() - started < 30
