"""Open pages in a separate process: each refreshes as `static/js/live.js` does, or holds a stream.

Reads what to open as JSON from its first line, prints "settled" when the measurement begins, and then its results.
"""

import asyncio
import json
import random
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any

_LIVE, _SETTLE = 1.5, 12.0
_PART = re.compile(r'data-watch="((?!banners)[^"]+)"')
_HEADERS = "Host: 127.0.0.1\r\nConnection: close\r\nAccept-Language: en\r\nHX-Request: true\r\n"


@dataclass
class Watchers:
    port: int
    path: str
    seconds: float
    counting: bool = False
    took: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    served: set[str] = field(default_factory=set)
    failed: int = 0

    async def ask(self, path: str, cookie: str, extra: str = "") -> tuple[int, dict[str, str], str]:
        """Send one request on a new connection. Return its status, headers (names in lower case) and body."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(f"GET {path} HTTP/1.1\r\n{_HEADERS}Cookie: {cookie}\r\n{extra}\r\n".encode())
            head, _, body = (await reader.read(-1)).decode().partition("\r\n\r\n")
        finally:
            writer.close()
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), headers, body

    async def polls(self, cookie: str, marks: str) -> None:
        """Refresh a page that was opened a moment ago."""
        await asyncio.sleep(random.uniform(0, _LIVE))
        last = None
        while True:
            started = time.perf_counter()
            try:
                status, headers, _ = await self.ask(self.path, cookie, marks)
            except (OSError, ValueError, IndexError):
                status, headers = 0, {}
            now = time.perf_counter()
            if self.counting:
                self.failed += status not in (200, 204)
                self.took.append(now - started)
                self.waits += [now - last] if last else []
                self.served |= {cookie} if status in (200, 204) else set()
            last = now
            await asyncio.sleep(float(headers.get("x-again", _LIVE)))

    async def streams(self, cookie: str) -> None:
        """Hold a stream, and count it as served while data arrives."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(f"GET {self.path} HTTP/1.1\r\n{_HEADERS}Cookie: {cookie}\r\n\r\n".encode())
            while line := await reader.readline():
                if self.counting and line.startswith(b"data:"):
                    self.served.add(cookie)
        finally:
            writer.close()

    async def looks(self, path: str, cookie: str) -> None:
        """Open a page now and then."""
        while True:
            started = time.perf_counter()
            try:
                status, _, _ = await asyncio.wait_for(self.ask(path, cookie), 10)
            except TimeoutError:
                status = 0
            if self.counting and status == 200:
                self.pages.append(time.perf_counter() - started)
            await asyncio.sleep(2)

    async def run(self, cookies: list[str], *, streams: bool, page: str) -> dict[str, Any]:
        html = (await self.ask(page, cookies[0]))[2]
        if streams:
            open_pages = [asyncio.create_task(self.streams(cookie)) for cookie in cookies]
        else:
            marks = _marks(html)
            open_pages = [asyncio.create_task(self.polls(cookie, marks)) for cookie in cookies]
        open_pages.append(asyncio.create_task(self.looks(page, cookies[0])))
        await asyncio.sleep(_SETTLE)
        self.counting = True
        print("settled", flush=True)
        await asyncio.sleep(self.seconds)
        for task in open_pages:
            task.cancel()
        return {"took": self.took, "waits": self.waits, "pages": self.pages, "served": len(self.served),
                "failed": self.failed}  # fmt: skip


def _marks(html: str) -> str:
    """Return the headers by which a page names what it shows."""
    part = _PART.search(html)
    version = re.search(rf'id="{part[1]}"[^>]*data-version="(\w+)"', html) if part else None
    banners = re.search(r'id="banners" data-version="(\w+)"', html)
    if part is None or version is None or banners is None:
        raise RuntimeError("the page does not follow anything")
    return f"HX-Target: {part[1]}\r\nX-Version: {version[1]}\r\nX-Version-Banners: {banners[1]}\r\n"


if __name__ == "__main__":
    given = json.loads(sys.stdin.readline())
    watchers = Watchers(given["port"], given["path"], given["seconds"])
    print(json.dumps(asyncio.run(watchers.run(given["cookies"], streams=given["streams"], page=given["page"]))))
