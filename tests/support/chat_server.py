"""A chat's web address on this machine, over TLS with its own certificate."""

import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.certificates import write_certificate

NAMES = ("chat.example.test", "localhost")


@dataclass(frozen=True)
class Post:
    path: str
    headers: dict[str, str]
    body: bytes


class Chat(ThreadingHTTPServer):
    """A chat server, used as a context manager. It answers POSTs with `answers` (status, headers, body), then 200."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posts: list[Post] = []
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.certificate = folder / "chat.pem"
        write_certificate(self.certificate, *NAMES)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.shutdown()
        self.server_close()

    def url(self, host: str = "localhost", path: str = "/hook/geheim1234") -> str:
        return f"https://{host}:{self.port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Chat

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append(Post(self.path, dict(self.headers), body))
        status, headers, said = self.server.answers.pop(0) if self.server.answers else (200, {}, b"ok")
        self.send_response(status)
        for name, value in {"Content-Length": str(len(said)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass
