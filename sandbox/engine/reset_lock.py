"""Whatever moves by itself holds still while everything is forgotten: the two would lock each other's tables."""

from django.db import connection

#: Any number that nobody else uses.
_LOCK = 72_616_002


def may_move() -> bool:
    """Until the end of this transaction nothing is forgotten; False when that is under way."""
    return bool(_ask("SELECT pg_try_advisory_xact_lock_shared(%s)"))


def hold_still() -> None:
    """Waits until nothing moves by itself, and keeps it so until the end of this transaction."""
    _ask("SELECT pg_advisory_xact_lock(%s)")


def _ask(statement: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement, [_LOCK])
        return cursor.fetchone()[0]
