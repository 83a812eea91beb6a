"""One process at a time per connection, by a lock that PostgreSQL frees when the process dies."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from django.db import connection as database

from tenants.models import Connection

_KIND = 0x7E15
_PATIENCE = 90.0


class Busy(Exception):
    """Another process held the connection for longer than any call to the service takes."""


@contextlib.contextmanager
def alone(connection: Connection) -> Iterator[None]:
    """Hold the connection's advisory lock, waiting for its holder. Raises Busy after 90 seconds."""
    until, pause = time.monotonic() + _PATIENCE, 0.02
    while not _ask("SELECT pg_try_advisory_lock(%s, %s)", connection):
        if time.monotonic() > until:
            raise Busy
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
    try:
        yield
    finally:
        _ask("SELECT pg_advisory_unlock(%s, %s)", connection)


def is_locked(connection: Connection) -> bool:
    """Return whether a running process holds the lock."""
    if _ask("SELECT pg_try_advisory_lock(%s, %s)", connection):
        _ask("SELECT pg_advisory_unlock(%s, %s)", connection)
        return False
    return True


def _ask(sql: str, connection: Connection) -> bool:
    with database.cursor() as cursor:
        cursor.execute(sql, [_KIND, connection.pk % 2**31])
        (answer,) = cursor.fetchone()
    return bool(answer)
