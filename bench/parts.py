"""Where the time of one list page goes: middleware, rights, statements, objects made of their rows, template."""

import io
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any
from unittest import mock

from django.core.handlers.wsgi import WSGIHandler
from django.db.backends.utils import CursorWrapper
from django.template.response import SimpleTemplateResponse

from bench.figures import Figure
from bench.ground import Ground, say
from bench.pages import OURS
from portal.base.ui import batching
from portal.base.ui.tables import table
from tenants import access
from tenants.postgresql import compiled_queries

# Measured by wrapping. Each part counts without the parts inside it; the handler counts the rest.
_WRAPPED = (
    ("statements", CursorWrapper, "execute"),
    ("rows of statements", compiled_queries.CompiledQuery, "rows"),
    ("rows of statements", batching, "_read"),
    ("rows drawn", table, "_draw"),
    ("rights", access, "_enter"),
    ("template", SimpleTemplateResponse, "rendered_content"),
    ("middleware and view", WSGIHandler, "__call__"),
)
_ROUNDS, _REQUESTS = 12, 20


class _Watch:
    """Adds up seconds by part, each without the parts inside it."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._inside: list[float] = []

    def wrap(self, part: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            self._inside.append(0.0)
            try:
                return inner(*args, **kwargs)
            finally:
                took = time.perf_counter() - started
                self.spent[part] += took - self._inside.pop()
                if self._inside:
                    self._inside[-1] += took

        return timed


def parts(ground: Ground) -> list[Figure]:
    """Measure the member list within this process: the fastest of some rounds, against the bare view."""
    say("the parts of a page")
    ours, bare = (_quietest(ground, path) for path in (OURS, "/bare/"))
    again = ground.sizes.again("parts", members=ground.sizes.members)
    names = [*dict.fromkeys(part for part, *_ in _WRAPPED)]
    ours_total, bare_total = (sum(each.values()) for each in (ours, bare))
    lines = [*((part, ours[part], bare[part]) for part in names), ("all parts", ours_total, bare_total)]
    return [
        Figure(
            f"member list, {part}",
            f"{mine * 1000:.2f} ms",
            f"bare view {other * 1000:.2f} ms",
            mine / ours_total,
            command=again,
        )
        for part, mine, other in lines
    ]


def _quietest(ground: Ground, path: str) -> Counter[str]:
    with _watched() as watch:
        found = []
        for _ in range(_ROUNDS):
            watch.spent.clear()
            for _ in range(_REQUESTS):
                _get(ground, path)
            found.append(Counter({part: spent / _REQUESTS for part, spent in watch.spent.items()}))
    return min(found, key=lambda each: sum(each.values()))


@contextmanager
def _watched() -> Iterator[_Watch]:
    watch = _Watch()
    with ExitStack() as stack:
        for part, owner, name in _WRAPPED:
            inner = vars(owner)[name]
            timed = property(watch.wrap(part, inner.fget)) if isinstance(inner, property) else watch.wrap(part, inner)
            stack.enter_context(mock.patch.object(owner, name, timed))
        yield watch


def _get(ground: Ground, path: str) -> None:
    """Send the request as gunicorn does."""
    host = f"127.0.0.1:{ground.house.port}"
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": "", "HTTP_HOST": host, "HTTP_COOKIE": ground.cookie,
        "SERVER_NAME": "127.0.0.1", "SERVER_PORT": str(ground.house.port), "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1", "HTTP_ACCEPT_LANGUAGE": "en", "wsgi.input": io.BytesIO(), "wsgi.errors": sys.stderr,
        "wsgi.url_scheme": "http",
    }  # fmt: skip
    answer = _handler()(environ, lambda *_: None)
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code}")
    b"".join(answer)
    answer.close()


@cache
def _handler() -> WSGIHandler:
    return WSGIHandler()
