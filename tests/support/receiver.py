"""An HTTP server on the loopback that stores what is posted to it. The test sets how quickly it answers."""

import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.waiting import until


@dataclass
class Post:
    """One request as it was received."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


class Receiver:
    """The server. `posts` holds all requests in order. It answers with `status` after `seconds`."""

    def __init__(self, *, status: int = 200, seconds: float = 0) -> None:
        self.posts: list[Post] = []
        self.status, self.seconds = status, seconds
        self._free = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.posts.append(Post(self.path, dict(self.headers), body, time.monotonic()))
                receiver._free.wait(receiver.seconds)
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    def __enter__(self) -> "Receiver":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._free.set()
        self._server.shutdown()
        self._server.server_close()

    def wait(self, count: int) -> list[Post]:
        """Return the posts once there are at least `count`."""
        until(lambda: len(self.posts) >= count, saying=lambda: f"{len(self.posts)} of {count} posts")
        return self.posts
