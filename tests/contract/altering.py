"""A small reverse proxy that alters traffic: a service that keeps to the specification except in one respect.

The faults are for `tests.support.proxy.HttpProxy`; each handles one exchange.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.support.faults import Exchange, Fault

Alter = Callable[[Any], Any]


def changed(alter: Alter, *, status: int | None = None) -> Fault:
    """Return a fault that passes the answer's JSON through `alter`; with `status`, only answers that have it."""

    def fault(exchange: Exchange) -> None:
        answer = exchange.forward()
        head, body = _parts(answer)
        got = int(head.split(b" ", 2)[1])
        if (status is None and 200 <= got <= 299) or got == status:
            answer = _with_body(head, json.dumps(alter(json.loads(body or b"{}")), ensure_ascii=False).encode())
        exchange.reply(answer)

    return fault


def _parts(answer: bytes) -> tuple[bytes, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    if not re.search(rb"(?im)^transfer-encoding:[ \t]*chunked", head):
        return head, body
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        whole, body = whole + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return head, whole


def _with_body(head: bytes, body: bytes) -> bytes:
    kept = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"content-length:", b"transfer-"))]
    return b"\r\n".join([*kept, b"Content-Length: %d" % len(body), b"", b""]) + body


def asked(alter: Alter) -> Fault:
    """Return a fault that passes the request's JSON through `alter` before the service sees it."""

    def fault(exchange: Exchange) -> None:
        body = json.dumps(alter(json.loads(exchange.request.body)), ensure_ascii=False).encode()
        head = re.sub(rb"(?im)^content-length:[^\r\n]*", b"Content-Length: %d" % len(body), exchange.request.head)
        exchange.request = replace(exchange.request, head=head, body=body)
        exchange.reply(exchange.forward())

    return fault


def addressed(pattern: str, instead: str) -> Fault:
    """Return a fault that replaces the part of the request's address that matches `pattern`."""

    def fault(exchange: Exchange) -> None:
        line, rest = exchange.request.head.split(b"\r\n", 1)
        line = re.sub(pattern.encode(), instead.encode(), line, count=1)
        exchange.request = replace(exchange.request, head=line + b"\r\n" + rest)
        exchange.reply(exchange.forward())

    return fault


def instead(status: int, body: Any = None) -> Fault:
    """Return a fault that answers in place of the service, which never sees the request."""

    def fault(exchange: Exchange) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} Instead\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        exchange.reply(head.encode() + content)

    return fault


def put(name: str, value: Any) -> Alter:
    """Return a function that sets a field. `name` may be dotted; * is each item of an array or value of an object."""
    return lambda data: _at(data, name.split("."), lambda owner, key: owner.__setitem__(key, value))


def drop(name: str) -> Alter:
    """Return a function that removes a field; named as in `put`."""
    return lambda data: _at(data, name.split("."), lambda owner, key: owner.pop(key, None))


def _at(data: Any, names: list[str], work: Callable[[Any, str], Any]) -> Any:
    first, rest = names[0], names[1:]
    if first == "*":
        for item in data if isinstance(data, list) else data.values():
            _at(item, rest, work)
    elif not isinstance(data, dict):
        pass
    elif not rest:
        if first in data:
            work(data, first)
    elif data.get(first) is not None:
        _at(data[first], rest, work)
    return data
