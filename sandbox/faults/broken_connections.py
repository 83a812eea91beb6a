"""Connections that end too early: the socket is closed while the server sends."""

import contextlib
import socket
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse


class BrokenResponse(StreamingHttpResponse):
    """A missing answer; or, for a `cut` one, its headers and the first half of its body.

    The socket is closed after every layer of the application is done with the request. The server treats it as a client
    that disconnected, which it neither answers nor reports.
    """

    def __init__(self, request: HttpRequest, cut: HttpResponse | None = None) -> None:
        whole = cut.content if cut is not None else b""
        # An empty body cannot be cut, so a longer length is announced.
        announced = max(len(whole), 2)
        super().__init__(
            _end_connection(request, whole[: announced // 2]), status=cut.status_code if cut is not None else 500
        )
        if cut is not None:
            for name, value in cut.items():
                self[name] = value
            self["Content-Length"] = str(announced)


#: The result of a fault: an answer, or a connection that ends.
Answer = HttpResponse | BrokenResponse


def _end_connection(request: HttpRequest, first: bytes) -> Iterator[bytes]:
    if first:
        yield first
    line: socket.socket = request.META["gunicorn.socket"]
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    # Sending this fails, which ends the server's response.
    yield b"\0"
