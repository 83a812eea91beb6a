"""Signs of life: a process holds a lock of its database session while others wait for its work.

The lock is derived from a token that the work's row carries. The transaction that takes the work takes the lock, and it
ends with the session, so that the death of a process is known at once:

    rows.annotate(held=living.Held(token)), or RETURNING {living.HELD} in SQL
    living.let_go(token)
    rows.filter(living.ended("claim", since="claimed_at"))
"""

import contextlib
import uuid

from django.db import Error
from django.db import connection as database
from django.db.models import BooleanField, Func, Q, TextField, Value

# Holders share the lock, whoever asks wants it alone. Two tokens that agree in 32 bits do no harm: an end is seen
# later.
# The first key of these locks; the second comes from the token.
LOCK_KIND = 0x5EAD
_KEYS = f"{LOCK_KIND}, ('x' || left(%s::text, 8))::bit(32)::int4"
TAKE_LOCK_SQL = f"pg_advisory_lock_shared({_KEYS})"
_IS_FREE_SQL = f"pg_try_advisory_xact_lock({_KEYS})"
_SAME_SERVER_SQL = """EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend'
AND usename = current_user AND backend_start < %s)"""


class TakeLock(Func):
    """Takes the lock of a token, for this session, with each row that the statement returns. Never waits."""

    template = TAKE_LOCK_SQL.replace("%s", "%(expressions)s")
    output_field = TextField()

    def __init__(self, token: uuid.UUID) -> None:
        super().__init__(Value(token))


class _IsFree(Func):
    """Whether nobody holds the lock of a row's token."""

    template = _IS_FREE_SQL.replace("%s", "%(expressions)s")
    output_field = BooleanField()


class _IsSameServer(Func):
    """Whether a session of ours from before that moment exists: no restart, crash or change of the server since."""

    template = _SAME_SERVER_SQL.replace("%s", "%(expressions)s")
    output_field = BooleanField()


def session_ended(token: str, *, since: str) -> Q:
    """Return a condition for rows whose token's session has ended; `since` is the field with the time it was taken.

    What ends all sessions at once also frees the locks of processes that run on: then a free lock means nothing, and no
    row is returned. A single session that was cut off counts as ended though its process runs: do only what is harmless
    then.
    """
    return Q(_IsFree(token)) & Q(_IsSameServer(since))


def release(token: uuid.UUID) -> None:
    """Free the lock of this token: its work is done. A lost session has freed it already."""
    with contextlib.suppress(Error), database.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_unlock_shared({_KEYS})", [token])


def is_alive(token: uuid.UUID) -> bool:
    """Return whether the session that took this token exists. Not in a transaction, which would keep the lock."""
    with database.cursor() as cursor:
        cursor.execute(f"SELECT {_IS_FREE_SQL}", [token])
        return not cursor.fetchone()[0]
