"""A lock that stops everything in the background while a reset deletes all rows: both lock the same tables."""

from django.db import connection

#: Any number that nothing else uses.
_LOCK = 72_616_002


def acquire_shared() -> bool:
    """Take a share of the lock until the end of this transaction. Return False while a reset runs."""
    return bool(_execute("SELECT pg_try_advisory_xact_lock_shared(%s)"))


def acquire_exclusive() -> None:
    """Take the lock until the end of this transaction, waiting until nothing runs in the background."""
    _execute("SELECT pg_advisory_xact_lock(%s)")


def _execute(statement: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement, [_LOCK])
        return cursor.fetchone()[0]
