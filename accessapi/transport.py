"""Send a request once and report its exact outcome. This is the only module that opens a connection.

`ServiceTransport` is an httpx2 transport. It follows no redirect, retries nothing, keeps no cookies and ignores proxies
of the environment. It turns every failure into `NotSent` (not one byte was written) or `OutcomeUnknown` (some may have
been). The difference is known where bytes are passed to the socket, not guessed from the kind of exception.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import httpcore2
import httpx2

from accessapi.errors import (
    REJECTIONS,
    ConnectionLost,
    NotSent,
    OutcomeUnknown,
    ServiceError,
    TimedOut,
    UnreadableAnswer,
)

CONNECT_SECONDS = 3.0
READ_SECONDS = 10.0
ANSWER_SECONDS = 30.0
ANSWER_MAX = 32 * 1024 * 1024
_TIMEOUTS = {"connect": CONNECT_SECONDS, "read": READ_SECONDS, "write": READ_SECONDS, "pool": CONNECT_SECONDS}

# SO_LINGER with a time of zero: closing sends a reset and drops undelivered data.
_LINGER_RESET = struct.pack("ii", 1, 0)
_LINGER_ORDERLY = struct.pack("ii", 0, 0)

BeforeWrite = Callable[[], None]


class Exchange:
    """One request in progress: whether writing has begun, and how long to wait for an answer."""

    def __init__(self, before_write: BeforeWrite | None, read_seconds: float, answer_seconds: float) -> None:
        self._before_write = before_write
        self.read_seconds = read_seconds
        self._answer_seconds = answer_seconds
        self._deadline: float | None = None
        self.refusal: Exception | None = None

    @property
    def is_written(self) -> bool:
        return self._deadline is not None

    def begin(self) -> None:
        """Record that writing begins, right before the first byte.

        If `before_write` raises, the request is not sent.
        """
        if self._deadline is not None:
            return
        if self._before_write is not None:
            try:
                self._before_write()
            except Exception as refusal:
                self.refusal = refusal
                raise
        self._deadline = time.monotonic() + self._answer_seconds

    def remaining_seconds(self, timeout: float | None) -> float:
        """Return the seconds that the next read or write may take.

        A server that sends slowly must not hold a worker forever.
        """
        wait = self.read_seconds if timeout is None else min(timeout, self.read_seconds)
        return wait if self._deadline is None else min(wait, self._deadline - time.monotonic())


_exchange: ContextVar[Exchange] = ContextVar("accessapi_exchange")


class _Stream(httpcore2.NetworkStream):
    """A connection that drops undelivered bytes if it is closed without an answer, or if its process dies.

    After an ordinary close the kernel continues to send for minutes: a door would open when the network returns, long
    after its command was marked uncertain.
    """

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._pending = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        patience = _exchange.get().remaining_seconds(timeout)
        if patience <= 0:
            raise httpcore2.ReadTimeout("the answer took too long")
        data = self._stream.read(max_bytes, patience)
        self._pending = self._pending and not data
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        exchange = _exchange.get()
        exchange.begin()
        patience = exchange.remaining_seconds(timeout)
        if patience <= 0:
            raise httpcore2.WriteTimeout("the request took too long")
        self._pending = True
        self._stream.write(buffer, patience)

    def close(self) -> None:
        if not self._pending:
            with contextlib.suppress(OSError):
                self.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ORDERLY)
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore2.SyncBackend):
    """Connects to `address`, if one is given, and not to the host's current address."""

    def __init__(self, address: str = "") -> None:
        self._address = address

    def connect_tcp(self, host: str, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        stream = super().connect_tcp(self._address or host, *args, **kwargs)
        opened = stream.get_extra_info("socket")
        # Set at once: a killed process closes nothing in order, but its kernel does.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # and nothing is delivered after a longer pause
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(READ_SECONDS * 1000))
        return _Stream(stream)


def tls_context() -> ssl.SSLContext:
    """Return the TLS context with this machine's trusted certificates.

    Reading the trust store takes tens of milliseconds: once per process, not at every call.
    """
    return _tls_context_of(os.getpid())


@lru_cache(maxsize=1)
def _tls_context_of(_pid: int) -> ssl.SSLContext:
    return httpx2.create_ssl_context()


class ConnectionPool(httpx2.BaseTransport):
    """Connections to one service, kept alive between calls and shared by threads. HTTP/1.1 only.

    With `address`, every connection goes to this IP address; certificate and Host are still those of the name.
    """

    def __init__(self, *, max_idle: int = 16, address: str = "") -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls_context(),
            max_connections=64,
            max_keepalive_connections=max_idle,
            keepalive_expiry=20.0,
            retries=0,
            network_backend=_Backend(address),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        sent = httpcore2.Request(
            method=request.method,
            url=url,
            headers=request.headers.raw,
            content=request.content,
            extensions={"timeout": dict(_TIMEOUTS)},
        )
        answer = self._pool.handle_request(sent)
        return httpx2.Response(answer.status, headers=answer.headers, stream=_ResponseBody(answer))

    def close(self) -> None:
        self._pool.close()


class _ResponseBody(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


_shared: dict[tuple[int, str], ConnectionPool] = {}
_shared_lock = threading.Lock()


def shared_pool(base_url: str) -> ConnectionPool:
    """Return the process's pool for a service environment. A forked child has its own: sockets must not be shared."""
    key = os.getpid(), base_url
    with _shared_lock:
        if key not in _shared:
            _shared[key] = ConnectionPool()
        return _shared[key]


@atexit.register
def _close_shared() -> None:
    for (pid, _), pool in list(_shared.items()):
        if pid == os.getpid():
            pool.close()


class ServiceTransport(httpx2.BaseTransport):
    """A transport that sends over `transport` and returns a fully read response, of any status.

    Reads `before_write` and `fresh` from the request's extensions. Raises only `NotSent` or a subclass of
    `OutcomeUnknown`. If a documented refusal (4xx) arrives without its body, it counts as a refusal with an empty body.
    """

    def __init__(
        self,
        transport: httpx2.BaseTransport,
        *,
        read_seconds: float = READ_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
        answer_max: int = ANSWER_MAX,
    ) -> None:
        self._transport = transport
        self._read_seconds = read_seconds
        self._answer_seconds = answer_seconds
        self._answer_max = answer_max

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = Exchange(request.extensions.get("before_write"), self._read_seconds, self._answer_seconds)
        fresh = bool(request.extensions.get("fresh"))
        token = _exchange.set(exchange)
        try:
            with self._choose_transport(fresh) as transport:
                return self._send(transport, request, exchange)
        finally:
            _exchange.reset(token)

    @contextlib.contextmanager
    def _choose_transport(self, fresh: bool) -> Iterator[httpx2.BaseTransport]:
        if not fresh or not isinstance(self._transport, ConnectionPool):
            yield self._transport
            return
        pool = ConnectionPool(max_idle=0)
        try:
            yield pool
        finally:
            pool.close()

    def _send(self, transport: httpx2.BaseTransport, request: httpx2.Request, exchange: Exchange) -> httpx2.Response:
        failure: ServiceError
        try:
            if not isinstance(transport, ConnectionPool):
                exchange.begin()
            response = transport.handle_request(request)
        except Exception as error:
            failure = _classify(error, exchange)
        else:
            return self._read(response)
        # Raised outside the except block: the transport's own exception would hold the request with its headers.
        raise failure

    def _read(self, response: httpx2.Response) -> httpx2.Response:
        failure: OutcomeUnknown
        try:
            content = self._content(response)
        except OutcomeUnknown as error:
            failure = error
        except httpx2.DecodingError:
            failure = UnreadableAnswer("the answer cannot be decompressed", response.status_code)
        except Exception as error:
            failure = _unknown_outcome(error, response.status_code)
        else:
            return _complete_response(response, content)
        if response.status_code in REJECTIONS:
            return _complete_response(response, b"")
        raise failure

    def _content(self, response: httpx2.Response) -> bytes:
        chunks: list[bytes] = []
        size = 0
        try:
            for chunk in response.iter_bytes():
                size += len(chunk)
                if size > self._answer_max:
                    raise UnreadableAnswer("the answer is too large", response.status_code)
                chunks.append(chunk)
        finally:
            with contextlib.suppress(Exception):
                response.close()
        return b"".join(chunks)

    def close(self) -> None:
        """Leave the transport open: it is shared, and its creator closes it."""


def _complete_response(response: httpx2.Response, content: bytes) -> httpx2.Response:
    dropped = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in dropped]
    return httpx2.Response(response.status_code, headers=headers, content=content)


_BEFORE_WRITING = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.ProxyError,
)


def _classify(error: Exception, exchange: Exchange) -> ServiceError:
    if exchange.refusal is not None:
        if isinstance(exchange.refusal, NotSent):
            return exchange.refusal
        refused = NotSent("refused_before_write")
        refused.__cause__ = exchange.refusal
        return refused
    if not exchange.is_written or isinstance(error, _BEFORE_WRITING):
        return NotSent(_reason_not_sent(error))
    return _unknown_outcome(error, None)


def _reason_not_sent(error: Exception) -> str:
    if isinstance(error, (httpcore2.PoolTimeout, httpx2.PoolTimeout)):
        return "no_free_connection"
    if isinstance(error, (httpcore2.TimeoutException, httpx2.TimeoutException)):
        return "connect_timeout"
    if isinstance(error, (httpcore2.NetworkError, httpx2.NetworkError, OSError)):
        return "connect_failed"
    return "cannot_be_sent"


def _unknown_outcome(error: Exception, status: int | None) -> OutcomeUnknown:
    if isinstance(error, (httpcore2.TimeoutException, httpx2.TimeoutException)):
        return TimedOut("no complete answer in time", status)
    return ConnectionLost("the connection broke before a complete answer", status)
