"""Locks that show whether a process is still working: a process holds one in its database session.

The lock is derived from a token in the work's row. The transaction that takes the work takes the lock too. The lock
ends with the session, so other processes know at once when its process dies:

    rows.annotate(held=session_locks.TakeLock(token)), or RETURNING {session_locks.TAKE_LOCK_SQL} in SQL
    session_locks.release(token)
    rows.filter(session_locks.session_ended("claim", since="claimed_at"))
"""

import contextlib
import uuid

from django.db import Error
from django.db import connection as database
from django.db.models import BooleanField, Func, Q, TextField, Value

# The first key of these locks; the second comes from the token. The holder shares the lock; a check tries to take it
# alone. If two tokens have the same 32 bits, only the end is noticed later.
LOCK_KIND = 0x5EAD
_KEYS = f"{LOCK_KIND}, ('x' || left(%s::text, 8))::bit(32)::int4"
TAKE_LOCK_SQL = f"pg_advisory_lock_shared({_KEYS})"
_IS_FREE_SQL = f"pg_try_advisory_xact_lock({_KEYS})"
_SAME_SERVER_SQL = """EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend'
AND usename = current_user AND backend_start < %s)"""


class TakeLock(Func):
    """A function that takes a token's lock for this session, with each row that the statement returns. Never waits."""

    template = TAKE_LOCK_SQL.replace("%s", "%(expressions)s")
    output_field = TextField()

    def __init__(self, token: uuid.UUID) -> None:
        super().__init__(Value(token))


class _IsFree(Func):
    """A condition: no session holds the lock of a row's token."""

    template = _IS_FREE_SQL.replace("%s", "%(expressions)s")
    output_field = BooleanField()


class _IsSameServer(Func):
    """A condition: one of our sessions started before that time, so the server was not restarted or replaced since."""

    template = _SAME_SERVER_SQL.replace("%s", "%(expressions)s")
    output_field = BooleanField()


def session_ended(token: str, *, since: str) -> Q:
    """Return a condition for rows whose token's session has ended; `since` is the field with the time it was taken.

    If all sessions end at once, the locks of running processes are free too. Then a free lock means nothing, and no row
    is returned. A single lost session counts as ended although its process still runs, so do only harmless things then.
    """
    return Q(_IsFree(token)) & Q(_IsSameServer(since))


def release(token: uuid.UUID) -> None:
    """Release the lock of this token after its work. A lost session has released it already."""
    with contextlib.suppress(Error), database.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_unlock_shared({_KEYS})", [token])


def is_alive(token: uuid.UUID) -> bool:
    """Return whether the session that took this token exists. Not in a transaction, which would keep the lock."""
    with database.cursor() as cursor:
        cursor.execute(f"SELECT {_IS_FREE_SQL}", [token])
        return not cursor.fetchone()[0]
