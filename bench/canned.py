"""A service that only returns prepared pages, so that a measurement shows the reader's own time.

Start it as a separate process: python -m bench.canned MEMBERS [GUESTS HISTORIES]. It prints its port on the first line.
"""

import json
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench import people

# Seconds that a single read takes, and the rights that it returns for every member.
_ONE_TAKES = 0.05
_RIGHTS = {"devices_pass": {"default_mode": "allow_all"}, "keys_pass": {"default_mode": "deny_all"}}


class Canned(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, members: int, guests: int = 0, histories: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls = 0
        made = {"members": list(people.pages(members))}
        made |= {"guests": _cut(people.guests(guests)), "histories": _cut(people.histories(histories))}
        self.pages = {f"/v1/{name}": list(_bodies(name, pages)) for name, pages in made.items()}


def _cut(items: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [items[at : at + 1000] for at in range(0, len(items), 1000)] or [[]]


def _bodies(name: str, pages: list[list[dict[str, Any]]]) -> Iterator[bytes]:
    for number, page in enumerate(pages):
        more = {} if number + 1 == len(pages) else {"last_evaluated_key": str(number + 1)}
        yield json.dumps({name: page, **more}, ensure_ascii=False).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Canned

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/calls":
            body = str(self.server.calls).encode()
        elif address.path.startswith("/v1/members/"):
            time.sleep(_ONE_TAKES)
            body = json.dumps({"member_id": address.path.rpartition("/")[2], "member_name": "One", **_RIGHTS}).encode()
        else:
            self.server.calls += 1
            body = self.server.pages[address.path][int(parse_qs(address.query).get("last_evaluated_key", ["0"])[0])]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


if __name__ == "__main__":
    service = Canned(*map(int, sys.argv[1:]))
    print(service.server_port, flush=True)
    service.serve_forever()
