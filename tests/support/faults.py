"""Faults that can affect one HTTP request on its way: functions of the exchange, some created with a value.

For `tests.support.proxy.HttpProxy`, whose rules decide which request gets which fault.
"""

import re
import select
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tests.support.waiting import PATIENCE

ABORT = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    """A request as it was received: `line` is "METHOD /path?query"."""

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


class Over(Exception):
    """Raised when the connection is over."""


class Passing(Protocol):
    """The part of the proxy that a fault uses."""

    closing: threading.Event

    def pass_on(self, request: Request) -> bytes: ...


@dataclass
class Exchange:
    """One request that a fault handles."""

    request: Request
    client: socket.socket
    proxy: Passing

    def forward(self) -> bytes:
        """Pass the request on and read the whole answer."""
        return self.proxy.pass_on(self.request)

    def reply(self, answer: bytes) -> None:
        self.client.sendall(answer)

    def reset(self) -> None:
        """End the connection with a RST."""
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        raise Over

    def end(self) -> None:
        """End the connection normally."""
        raise Over

    def hold(self) -> None:
        """Keep the connection open, silent, until the other side gives up or the proxy closes."""
        while not self.proxy.closing.is_set():
            if select.select([self.client], [], [], 0.1)[0] and not self.client.recv(65536):
                break
        raise Over


Fault = Callable[[Exchange], None]


@dataclass
class Rule:
    """A fault and its requests: those whose line matches a pattern, after `skip` of them, `times` of them."""

    pattern: str
    fault: Fault
    times: int | None = None
    skip: int = 0
    seen: threading.Event = field(default_factory=threading.Event)
    #: Set when the fault of a request has ended.
    over: threading.Event = field(default_factory=threading.Event)
    met: int = 0

    def wait(self, seconds: float = PATIENCE) -> None:
        """Wait until a request got the fault. Raises AssertionError when none did."""
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


def reset_before(exchange: Exchange) -> None:
    """Break the connection before the service sees the request."""
    exchange.reset()


def reset_after(exchange: Exchange) -> None:
    """Let the service do the work, then break the connection before its answer."""
    exchange.forward()
    exchange.reset()


def swallow(exchange: Exchange) -> None:
    """Keep the request: the site has sent it, the service never sees it, no answer comes."""
    exchange.hold()


def swallow_answer(exchange: Exchange) -> None:
    """Let the service do the work, but never deliver its answer."""
    exchange.forward()
    exchange.hold()


def network_standstill(exchange: Exchange) -> None:
    """Stop the network until the sender gives up, then deliver what the sender's kernel would go on sending.

    This is everything after an ordinary close, and nothing after a reset.
    """
    while not exchange.proxy.closing.is_set():
        if select.select([exchange.client], [], [], 0.1)[0]:
            try:
                exchange.client.recv(65536)
            except ConnectionResetError:
                raise Over from None
            exchange.forward()
            raise Over


def delay_answer(seconds: float) -> Fault:
    """Deliver the request at once and its answer late."""

    def fault(exchange: Exchange) -> None:
        answer = exchange.forward()
        exchange.proxy.closing.wait(seconds)
        exchange.reply(answer)

    return fault


def answer(status: int, body: bytes = b"", *, applied: bool = False, **headers: str) -> Fault:
    """Replace the service's answer. The request never reaches the service, or (`applied`) it was done before."""

    def fault(exchange: Exchange) -> None:
        if applied:
            exchange.forward()
        given = {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        lines = [f"HTTP/1.1 {status} Substituted", *(f"{name}: {value}" for name, value in given.items())]
        head = "\r\n".join([*lines, f"content-length: {len(body)}", "", ""])
        exchange.reply(head.encode("latin-1") + body)

    return fault


def truncate(keep: int) -> Fault:
    """Cut the service's answer off after `keep` bytes of its body."""

    def fault(exchange: Exchange) -> None:
        head, _, body = exchange.forward().partition(b"\r\n\r\n")
        exchange.reply(head + b"\r\n\r\n" + body[:keep])
        exchange.end()

    return fault


def headers(**changed: str | None) -> Fault:
    """Change headers of the service's answer (a value) or remove them (None)."""

    def fault(exchange: Exchange) -> None:
        head, _, body = exchange.forward().partition(b"\r\n\r\n")
        names = {name.replace("_", "-").lower(): value for name, value in changed.items()}
        lines = [line for line in head.split(b"\r\n") if line.partition(b":")[0].decode("latin-1").lower() not in names]
        lines += [f"{name}: {value}".encode("latin-1") for name, value in names.items() if value is not None]
        exchange.reply(b"\r\n".join(lines) + b"\r\n\r\n" + body)

    return fault


class Gate:
    """A fault that holds the request until the test opens it, or (`after`) holds the service's answer."""

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
