"""A fault-injecting proxy on the loopback address, between the site and a service that it uses.

`TcpProxy` passes bytes and can refuse, freeze or cut connections: for PostgreSQL and Valkey. `HttpProxy` reads each
request whole and looks up its rules: the first one that matches and is not used up decides the fault
(tests.support.faults). It counts the requests that it saw and passed on. It notifies the test the moment a request
arrives, so that the test can kill the sender just then.
"""

import contextlib
import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator

from tests.support.faults import ABORT, Exchange, Fault, Over, Request, Rule


class TcpProxy:
    """A proxy that passes connections on to 127.0.0.1:`upstream`, used as a context manager."""

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
        """Stop listening. Open connections are kept."""
        with self._lock, contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def accept(self) -> None:
        """Listen again, on the same port."""
        self._listener = self._listen(self.port)
        self._accept()

    @contextlib.contextmanager
    def down(self) -> Iterator[None]:
        """Refuse new connections and cut open ones during the block."""
        self.refuse()
        self.cut()
        try:
            yield
        finally:
            self.accept()

    @contextlib.contextmanager
    def stalled(self) -> Iterator[None]:
        """Keep new connections from completing during the block (their SYN is dropped). Afterwards they complete."""
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
        """Reset every open connection."""
        with self._lock:
            victims = list(self._open)
        for each in victims:
            with contextlib.suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
                each.shutdown(socket.SHUT_RDWR)

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
        with client, self._kept(client), contextlib.suppress(OSError, ValueError, Over):
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
    """A proxy that passes HTTP/1.1 requests on, with one upstream connection each, and applies rules."""

    def __init__(self, upstream: int, usual: Callable[[str], str] = str) -> None:
        """Set the proxy up. `usual` translates a request line into the form that rules use."""
        self._usual = usual
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
        """Add a rule for the length of the block."""
        rule = self.on(pattern, fault, times=times, skip=skip)
        try:
            yield rule
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self.rules.remove(rule)

    def count(self, pattern: str, *, forwarded: bool = True) -> int:
        """Return how many requests of this kind were passed on (or, with `forwarded` false, seen)."""
        with self._lock:
            requests = list(self.forwarded if forwarded else self.seen)
        return sum(bool(re.search(pattern, request.line)) for request in requests)

    def serve(self, client: socket.socket) -> None:
        reader = client.makefile("rb")
        try:
            while (request := _read_request(reader, self._usual)) is not None:
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
            try:
                rule.fault(exchange)
            finally:
                rule.over.set()

    def pass_on(self, request: Request) -> bytes:
        """Return the upstream's whole answer, as bytes that a keep-alive connection can carry."""
        asks_close = request.header("connection").lower() == "close"
        head = re.sub(rb"(?im)^connection:[^\r\n]*\r\n", b"", request.head)
        with socket.create_connection(("127.0.0.1", self.upstream), 5) as upstream, self._kept(upstream):
            upstream.settimeout(60)
            with self._lock:
                self.forwarded.append(request)
            upstream.sendall(head[:-2] + b"Connection: close\r\n\r\n" + request.body)
            got = b"".join(iter(lambda: upstream.recv(65536), b""))
        return got if asks_close else re.sub(rb"(?im)^connection: close\r\n", b"", got, count=1)


def _read_request(reader, usual: Callable[[str], str]) -> Request | None:
    lines = []
    while (line := reader.readline(65537)) not in (b"\r\n", b"\n", b""):
        lines.append(line)
    if not lines:
        return None
    head = b"".join(lines) + b"\r\n"
    method, target = lines[0].decode("latin-1").split(" ")[:2]
    length = re.search(rb"(?im)^content-length:[ \t]*(\d+)", head)
    body = reader.read(int(length[1])) if length else b""
    return Request(time.time(), usual(f"{method} {target}"), head, body)
