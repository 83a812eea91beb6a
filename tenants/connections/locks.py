"""One process at a time per connection, by a lock that PostgreSQL releases when the process dies."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from django.db import connection as database

from tenants.models import Connection

_LOCK_KIND = 0x7E15
_WAIT_SECONDS = 90.0


class ConnectionBusy(Exception):
    """Another process held the connection for longer than any call to the service takes."""


@contextlib.contextmanager
def exclusive(connection: Connection) -> Iterator[None]:
    """Hold the connection's advisory lock for the block, after waiting for it.

    Raises ConnectionBusy after 90 seconds.
    """
    until, pause = time.monotonic() + _WAIT_SECONDS, 0.02
    while not _execute("SELECT pg_try_advisory_lock(%s, %s)", connection):
        if time.monotonic() > until:
            raise ConnectionBusy
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
    try:
        yield
    finally:
        _execute("SELECT pg_advisory_unlock(%s, %s)", connection)


def is_locked(connection: Connection) -> bool:
    """Return whether a running process holds the lock."""
    if _execute("SELECT pg_try_advisory_lock(%s, %s)", connection):
        _execute("SELECT pg_advisory_unlock(%s, %s)", connection)
        return False
    return True


def _execute(sql: str, connection: Connection) -> bool:
    with database.cursor() as cursor:
        cursor.execute(sql, [_LOCK_KIND, connection.pk % 2**31])
        (answer,) = cursor.fetchone()
    return bool(answer)
