"""A fault-injecting proxy on the loopback address, between the site and whatever it talks to.

`TcpProxy` passes bytes and can refuse, freeze or cut connections: for PostgreSQL and Valkey. `HttpProxy` reads each
request whole and looks up its rules: the first one that matches and is not used up decides the fault. It counts what it
saw and what it passed on, and tells the test the moment a request arrives, so that the sender can be killed just then.
"""

import contextlib
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_ABORT = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    """A request as it came: `line` is "METHOD /path?query"."""

    at: float
    line: str
    head: bytes
    body: bytes

    @property
    def raw(self) -> bytes:
        return self.head + self.body

    def header(self, name: str) -> str:
        found = re.search(rb"(?im)^" + re.escape(name).encode() + rb":[ \t]*([^\r\n]*)", self.head)
        return found[1].decode("latin-1") if found else ""


class _Over(Exception):
    """The connection carries nothing more."""


@dataclass
class Exchange:
    """One request in the hands of a fault."""

    request: Request
    client: socket.socket
    proxy: "HttpProxy"

    def forward(self) -> bytes:
        """Pass the request on and read the whole answer."""
        return self.proxy.pass_on(self.request)

    def reply(self, answer: bytes) -> None:
        self.client.sendall(answer)

    def reset(self) -> None:
        """End the connection with a RST."""
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        raise _Over

    def end(self) -> None:
        """End the connection in good order."""
        raise _Over

    def hold(self) -> None:
        """Keep the connection open, silent, until the other side gives up or the proxy closes."""
        while not self.proxy.closing.is_set():
            if select.select([self.client], [], [], 0.1)[0] and not self.client.recv(65536):
                break
        raise _Over


Fault = Callable[[Exchange], None]


@dataclass
class Rule:
    """Which requests meet a fault: a pattern searched in the request line, after `skip` of them, `times` of them."""

    pattern: str
    fault: Fault
    times: int | None = None
    skip: int = 0
    seen: threading.Event = field(default_factory=threading.Event)
    met: int = 0

    def wait(self, seconds: float = 15.0) -> None:
        """Until a request met the fault. AssertionError when none did."""
        assert self.seen.wait(seconds), f"no request matched {self.pattern!r} within {seconds} s"

    def takes(self, request: Request) -> bool:
        if not re.search(self.pattern, request.line):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None and self.met >= self.times:
            return False
        self.met += 1
        return True


# What can go wrong with one request. Each is a function of the exchange; some are made with a value.


def reset_before(exchange: Exchange) -> None:
    """The connection breaks before the service sees the request."""
    exchange.reset()


def reset_after(exchange: Exchange) -> None:
    """The service did the work; the connection breaks before its answer."""
    exchange.forward()
    exchange.reset()


def swallow(exchange: Exchange) -> None:
    """A black hole: written by the site, never seen by the service, never answered."""
    exchange.hold()


def swallow_answer(exchange: Exchange) -> None:
    """A black hole behind the service: the work is done, the answer never comes."""
    exchange.forward()
    exchange.hold()


def network_standstill(exchange: Exchange) -> None:
    """The network stands still until the sender gives up, then delivers what the sender's kernel would go on sending:
    all of it after an ordinary close, nothing after a reset.
    """
    while not exchange.proxy.closing.is_set():
        if select.select([exchange.client], [], [], 0.1)[0]:
            try:
                exchange.client.recv(65536)
            except ConnectionResetError:
                raise _Over from None
            exchange.forward()
            raise _Over


def delay(seconds: float) -> Fault:
    """The request reaches the service late."""

    def fault(exchange: Exchange) -> None:
        exchange.proxy.closing.wait(seconds)
        exchange.reply(exchange.forward())

    return fault


def delay_answer(seconds: float) -> Fault:
    """The request arrives at once, its answer late."""

    def fault(exchange: Exchange) -> None:
        answer = exchange.forward()
        exchange.proxy.closing.wait(seconds)
        exchange.reply(answer)

    return fault


def answer(status: int, body: bytes = b"", *, applied: bool = False, **headers: str) -> Fault:
    """Another answer in the service's place: without the request ever reaching it, or (`applied`) after it worked."""

    def fault(exchange: Exchange) -> None:
        if applied:
            exchange.forward()
        given = {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        lines = [f"HTTP/1.1 {status} Substituted", *(f"{name}: {value}" for name, value in given.items())]
        head = "\r\n".join([*lines, f"content-length: {len(body)}", "", ""])
        exchange.reply(head.encode("latin-1") + body)

    return fault


def truncate(keep: int) -> Fault:
    """The service's answer, cut off after `keep` bytes of its body."""

    def fault(exchange: Exchange) -> None:
        head, _, body = exchange.forward().partition(b"\r\n\r\n")
        exchange.reply(head + b"\r\n\r\n" + body[:keep])
        exchange.end()

    return fault


def headers(**changed: str | None) -> Fault:
    """The service's answer with headers that lie (a value) or are missing (None)."""

    def fault(exchange: Exchange) -> None:
        head, _, body = exchange.forward().partition(b"\r\n\r\n")
        names = {name.replace("_", "-").lower(): value for name, value in changed.items()}
        lines = [line for line in head.split(b"\r\n") if line.partition(b":")[0].decode("latin-1").lower() not in names]
        lines += [f"{name}: {value}".encode("latin-1") for name, value in names.items() if value is not None]
        exchange.reply(b"\r\n".join(lines) + b"\r\n\r\n" + body)

    return fault


class Gate:
    """A fault that keeps the request until the test lets it go: before the service sees it, or (`after`) behind it."""

    def __init__(self, *, after: bool = False) -> None:
        self.after = after
        self.open = threading.Event()
        self.forwarded = threading.Event()

    def __call__(self, exchange: Exchange) -> None:
        answered = exchange.forward() if self.after else None
        self.forwarded.set() if self.after else None
        while not self.open.wait(0.05):
            if exchange.proxy.closing.is_set() or _gone(exchange.client):
                exchange.end()
        exchange.reply(answered if answered is not None else exchange.forward())


def _gone(client: socket.socket) -> bool:
    if not select.select([client], [], [], 0)[0]:
        return False
    try:
        return not client.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


class TcpProxy:
    """Passes connections on to 127.0.0.1:`upstream`. A context manager."""

    def __init__(self, upstream: int) -> None:
        self.upstream = upstream
        self.closing = threading.Event()
        self.connected = threading.Event()
        self.frozen = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._stalled: list[socket.socket] = []
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]
        self._accept()

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything. Safe to repeat."""
        self.closing.set()
        self.frozen.clear()
        self.refuse()
        self.cut()
        for thread in list(self._threads):
            thread.join(10)

    def refuse(self) -> None:
        """From now on nobody listens. Connections that stand stay."""
        with self._lock, contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def accept(self) -> None:
        """Listen again, on the same port."""
        self._listener = self._listen(self.port)
        self._accept()

    @contextlib.contextmanager
    def down(self) -> Iterator[None]:
        """Refuse and cut everything for the length of the block."""
        self.refuse()
        self.cut()
        try:
            yield
        finally:
            self.accept()

    @contextlib.contextmanager
    def stalled(self) -> Iterator[None]:
        """New connections hang in the making (their SYN is dropped) for the length of the block, then stand."""
        self.refuse()
        self._listener = self._listen(self.port, backlog=0)
        self._stalled = [self._knock() for _ in range(2)]
        try:
            yield
        finally:
            for filler in self._stalled:
                filler.close()
            self._listener.listen(128)
            self._accept()

    def cut(self) -> None:
        """Reset every connection that stands."""
        with self._lock:
            victims = list(self._open)
        for each in victims:
            with contextlib.suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
                each.shutdown(socket.SHUT_RDWR)

    @property
    def standing(self) -> int:
        with self._lock:
            return len(self._open)

    def serve(self, client: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self.upstream), 5) as upstream:
            upstream.settimeout(None)
            with self._kept(upstream):
                self._pump(client, upstream)

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        while not self.closing.is_set():
            if self.frozen.is_set():
                time.sleep(0.02)
                continue
            ready, _, _ = select.select([one, other], [], [], 0.2)
            for each in ready:
                data = each.recv(65536)
                if not data:
                    return
                (other if each is one else one).sendall(data)

    def _listen(self, port: int, backlog: int = 128) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(backlog)
        return listener

    def _knock(self) -> socket.socket:
        knocker = socket.socket()
        knocker.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            knocker.connect(("127.0.0.1", self.port))
        return knocker

    def _accept(self) -> None:
        self._start(self._accepting, self._listener)

    def _start(self, target: Callable[..., None], *given: object) -> None:
        def run() -> None:
            try:
                target(*given)
            finally:
                self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=run, daemon=True, name=f"proxy-{self.upstream}")
        self._threads.add(thread)
        thread.start()

    def _accepting(self, listener: socket.socket) -> None:
        while not self.closing.is_set():
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.connected.set()
            self._start(self._serving, client)

    def _serving(self, client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, self._kept(client), contextlib.suppress(OSError, ValueError, _Over):
            self.serve(client)

    @contextlib.contextmanager
    def _kept(self, each: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.add(each)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(each)


class HttpProxy(TcpProxy):
    """Passes HTTP/1.1 requests on, one upstream connection each, and applies rules."""

    def __init__(self, upstream: int) -> None:
        self.rules: list[Rule] = []
        self.seen: list[Request] = []
        self.forwarded: list[Request] = []
        super().__init__(upstream)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def on(self, pattern: str, fault: Fault, *, times: int | None = None, skip: int = 0) -> Rule:
        """Add a rule; later ones come first."""
        rule = Rule(pattern, fault, times, skip)
        with self._lock:
            self.rules.insert(0, rule)
        return rule

    def clear(self) -> None:
        with self._lock:
            self.rules.clear()

    @contextlib.contextmanager
    def during(self, pattern: str, fault: Fault, *, times: int | None = None, skip: int = 0) -> Iterator[Rule]:
        """A rule for the length of the block."""
        rule = self.on(pattern, fault, times=times, skip=skip)
        try:
            yield rule
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self.rules.remove(rule)

    def count(self, pattern: str, *, forwarded: bool = True) -> int:
        """How many requests of this kind were passed on (or, seen at all)."""
        with self._lock:
            requests = list(self.forwarded if forwarded else self.seen)
        return sum(bool(re.search(pattern, request.line)) for request in requests)

    def serve(self, client: socket.socket) -> None:
        reader = client.makefile("rb")
        try:
            while (request := _read_request(reader)) is not None:
                self._one(client, request)
                if request.header("connection").lower() == "close":
                    return
        finally:
            reader.close()

    def _one(self, client: socket.socket, request: Request) -> None:
        with self._lock:
            self.seen.append(request)
            rule = next((rule for rule in self.rules if rule.takes(request)), None)
        exchange = Exchange(request, client, self)
        if rule is None:
            exchange.reply(exchange.forward())
        else:
            rule.seen.set()
            rule.fault(exchange)

    def pass_on(self, request: Request) -> bytes:
        """The upstream's whole answer, as bytes that a keep-alive connection can carry."""
        asks_close = request.header("connection").lower() == "close"
        head = re.sub(rb"(?im)^connection:[^\r\n]*\r\n", b"", request.head)
        with socket.create_connection(("127.0.0.1", self.upstream), 5) as upstream, self._kept(upstream):
            upstream.settimeout(60)
            with self._lock:
                self.forwarded.append(request)
            upstream.sendall(head[:-2] + b"Connection: close\r\n\r\n" + request.body)
            got = b"".join(iter(lambda: upstream.recv(65536), b""))
        return got if asks_close else re.sub(rb"(?im)^connection: close\r\n", b"", got, count=1)


def _read_request(reader) -> Request | None:
    lines = []
    while (line := reader.readline(65537)) not in (b"\r\n", b"\n", b""):
        lines.append(line)
    if not lines:
        return None
    head = b"".join(lines) + b"\r\n"
    method, target = lines[0].decode("latin-1").split(" ")[:2]
    length = re.search(rb"(?im)^content-length:[ \t]*(\d+)", head)
    body = reader.read(int(length[1])) if length else b""
    return Request(time.time(), f"{method} {target}", head, body)
