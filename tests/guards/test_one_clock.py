"""The sandbox has one clock, which can be moved: no other module reads the time elsewhere."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.sources import Source, sources

CLOCK = "sandbox/clock.py"
#: Functions that read the time. time.monotonic and time.sleep only measure and wait.
CLOCKS = {
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "timezone": {"now"},
    "time": {"time", "time_ns"},
}
#: Functions that convert a given moment, and read the time if none is given.
FORMS = {"localtime", "localdate", "gmtime", "ctime"}
#: The database's own clock, in SQL and in Django.
DATABASE = re.compile(r"\b(now\(\)|current_(timestamp|date|time)|localtimestamp|clock_timestamp)", re.IGNORECASE)


def asks(source: str) -> Iterator[str]:
    """Yield each place in this module that reads another clock, with its line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
                if name in CLOCKS.get(owner, ()):
                    yield f"line {node.lineno}: {owner}.{name}"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[], keywords=[]) if name in FORMS:
                yield f"line {node.lineno}: {name}()"
            case ast.ImportFrom(module="time" | "django.utils.timezone" as module, names=names):
                yield from (
                    f"line {node.lineno}: {module}.{each.name}"
                    for each in names
                    if each.name in CLOCKS[module.rpartition(".")[2]]
                )
            case ast.keyword(arg="auto_now" | "auto_now_add" as name):
                yield f"line {node.value.lineno}: {name}"
            case ast.Constant(value=str(text)) if "\n" not in text.strip() or "SELECT" in text.upper():
                if found := DATABASE.search(text):
                    yield f"line {node.lineno}: {found[0]}"


# Migrations are left out: they convert data of an older version, from before the clock could be moved.
@pytest.mark.parametrize("module", sources("sandbox"), ids=lambda module: module.name)
def test_nothing_but_the_clock_asks_what_time_it_is(module: Source) -> None:
    found = list(asks(module.text))
    assert len(found) == (1 if module.name == CLOCK else 0), found


@pytest.mark.parametrize(
    "source",
    [
        "datetime.now(UTC)",
        "datetime.datetime.utcnow()",
        "date.today()",
        "time.time()",
        "from time import time",
        "django.utils.timezone.now()",
        "timezone.localtime()",
        "models.DateTimeField(auto_now_add=True)",
        "cursor.execute('DELETE FROM x WHERE at < now()')",
    ],
)
def test_the_guard_sees_every_other_clock(source: str) -> None:
    assert list(asks(source))


@pytest.mark.parametrize("source", ["clock.now()", "time.monotonic()", "time.sleep(1)", "localtime(at)"])
def test_the_guard_lets_the_rest_be(source: str) -> None:
    assert not list(asks(source))
