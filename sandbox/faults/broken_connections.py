"""Connections that really end too early: the socket is closed while the server sends."""

import contextlib
import socket
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse


class BrokenResponse(StreamingHttpResponse):
    """No answer; or, of a `cut` one, its headers and the first half of its body.

    The socket is closed after every layer of the application is done with the request. The server takes it for a client
    that went away, which it neither answers nor reports.
    """

    def __init__(self, request: HttpRequest, cut: HttpResponse | None = None) -> None:
        whole = cut.content if cut is not None else b""
        # An empty body cannot be cut: it is announced as longer than it is.
        announced = max(len(whole), 2)
        super().__init__(
            _end_connection(request, whole[: announced // 2]), status=cut.status_code if cut is not None else 500
        )
        if cut is not None:
            for name, value in cut.items():
                self[name] = value
            self["Content-Length"] = str(announced)


#: What a fault leaves of a call: an answer, or a connection that ends.
Answer = HttpResponse | BrokenResponse


def _end_connection(request: HttpRequest, first: bytes) -> Iterator[bytes]:
    if first:
        yield first
    line: socket.socket = request.META["gunicorn.socket"]
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    # Sending this fails, which tells the server.
    yield b"\0"
