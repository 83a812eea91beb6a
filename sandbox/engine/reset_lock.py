"""A lock that pauses all background work while a reset deletes all rows: both lock the same tables."""

from django.db import connection

#: Any number that nothing else uses.
_LOCK = 72_616_002


def acquire_shared() -> bool:
    """Take a shared lock until the end of this transaction. Return False while a reset runs."""
    return bool(_execute("SELECT pg_try_advisory_xact_lock_shared(%s)"))


def acquire_exclusive() -> None:
    """Take the lock until the end of this transaction, after waiting for all background work."""
    _execute("SELECT pg_advisory_xact_lock(%s)")


def _execute(statement: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement, [_LOCK])
        return cursor.fetchone()[0]
