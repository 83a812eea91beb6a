"""Move the clock of this process's database connection ahead of the real one, for tests of what happens later.

Everything that the portal decides by a clock uses the database's clock (tests/guards/test_one_clock.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import connection

from tests.support.databases import as_owner

_SCHEMA = """
CREATE SCHEMA ahead;
GRANT USAGE ON SCHEMA ahead TO PUBLIC;
CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$SELECT pg_catalog.clock_timestamp() + current_setting('ahead.seconds')::float8 * interval '1 second'$$;
"""


class Clock:
    """A clock that `move` sets forward; it never goes back."""

    def __init__(self) -> None:
        self._ahead = timedelta(0)

    def move(self, **by: float) -> None:
        self._ahead += timedelta(**by)
        _set("ahead.seconds", str(self._ahead.total_seconds()))


@contextmanager
def moved_clock() -> Iterator[Clock]:
    """Yield a clock that the test moves. Other database connections keep the real time."""
    with as_owner() as owner:
        owner.execute(_SCHEMA)
    with connection.cursor() as cursor:
        cursor.execute("SHOW search_path")
        (before,) = cursor.fetchone()
    clock = Clock()
    clock.move()
    _set("search_path", f"ahead, pg_catalog, {before}")
    try:
        yield clock
    finally:
        _set("search_path", before)
        with as_owner() as owner:
            owner.execute("DROP SCHEMA ahead CASCADE")


def _set(name: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
