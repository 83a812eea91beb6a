"""The HTTP server. Answers have, in turn, a length, chunks, or the form of HTTP/1.0."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.second_service.answers import Answer
from tests.support.second_service.world import World


def server(world: World) -> ThreadingHTTPServer:
    """Return a server of `world` on a free port of the loopback; it does not serve yet."""

    class Handler(_Handler):
        pass

    Handler.world = world
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    return made


class _Handler(BaseHTTPRequestHandler):
    world: World
    wbufsize = -1
    disable_nagle_algorithm = True
    server_version = "Elsewhere"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""

    def _serve(self) -> None:
        number = self.world.slow_down()
        raw = self._body()
        self._send(self.world.answer(self.command, self.path, self.headers, raw), number % 3)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, answer: Answer, way: int) -> None:
        """Send an answer. `way` 0: with a length; 1: in chunks; 2: HTTP/1.0, until the connection ends."""
        bare = answer.status == 204
        self.protocol_version = "HTTP/1.0" if way == 2 else "HTTP/1.1"
        self.send_response(answer.status)
        if not bare:
            self.send_header("content-type", answer.kind)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if way == 2:
            self.close_connection = True
        else:
            self.close_connection = False
            if not bare:
                name, value = ("transfer-encoding", "chunked") if way else ("content-length", str(len(answer.body)))
                self.send_header(name, value)
        self.end_headers()
        if way == 1 and not bare:
            half = max(1, len(answer.body) // 2)
            for part in (answer.body[:half], answer.body[half:]):
                if part:
                    self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
        elif not bare:
            self.wfile.write(answer.body)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815
