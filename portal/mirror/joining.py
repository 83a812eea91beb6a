"""People who ask the service the same thing at the same moment share one call, whichever process they are in.

The first to ask writes a row and makes the call; the others wait for its answer, which rests encrypted for seconds.
When the first one fails or dies, the next makes the call itself: an error is nobody else's answer.
"""

import contextlib
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.db import DatabaseError
from django.db import connection as database

from portal.mirror.models import SharedReading
from portal.mirror.models.state import sealing_field
from tenants.scope import current_tenant_id

# Longer than any call may take (connect 3 s, answer 30 s): after that its caller is surely dead.
_CALL_SECONDS = 40
# While a caller lives, its session holds an advisory lock, so that those who wait notice its death at once. The first
# key of these locks; the second comes from the caller's token.
_LOCK = 0x5EAD
_LOOK_SECONDS = 0.5
_KEEP_SECONDS = 5
_POLL_SECONDS = 0.05

_CLAIM = """
INSERT INTO mirror_sharedreading AS r (tenant_id, key, token, until)
VALUES (%(tenant)s, %(key)s, %(token)s, clock_timestamp() + %(seconds)s * interval '1 second')
ON CONFLICT (tenant_id, key)
DO UPDATE SET token = EXCLUDED.token, until = EXCLUDED.until, answered_at = NULL, answer = NULL
WHERE r.answered_at IS NOT NULL OR r.until < clock_timestamp()
RETURNING pg_advisory_lock(%(lock)s, %(caller)s)
"""
_ANSWERED = """
UPDATE mirror_sharedreading SET answer = %(answer)s, answered_at = clock_timestamp(),
    until = clock_timestamp() + %(seconds)s * interval '1 second'
WHERE tenant_id = %(tenant)s AND key = %(key)s AND token = %(token)s
"""


def shared(key: str, fetch: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """What `fetch` returns, and whether this caller made the call. Raises what `fetch` raises. Not in a transaction."""
    while True:
        token = _claim(key)
        if token is not None:
            try:
                return _fetched(key, token, fetch), True
            finally:
                _let_go(token)
        answer = _awaited(key)
        if answer is not None:
            return answer, False


def _claim(key: str) -> uuid.UUID | None:
    token = uuid.uuid4()
    tenant_id = current_tenant_id()
    values: dict[str, Any] = {"tenant": tenant_id, "key": key, "token": token, "seconds": _CALL_SECONDS}
    values |= _lock_of(token)
    with database.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        return token if cursor.fetchone() else None


def _fetched(key: str, token: uuid.UUID, fetch: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        answer = fetch()
    except BaseException:
        SharedReading.objects.filter(key=key, token=token).delete()
        raise
    tenant_id = current_tenant_id()
    sealed = sealing_field(SharedReading, "answer").seal(tenant_id, json.dumps(answer).encode())
    values: dict[str, Any] = {
        "answer": sealed and sealed.data,
        "seconds": _KEEP_SECONDS,
        "tenant": tenant_id,
        "key": key,
        "token": token,
    }
    with database.cursor() as cursor:
        cursor.execute(_ANSWERED, values)
    return answer


def _awaited(key: str) -> dict[str, Any] | None:
    """The answer to the call under way; None when it failed, or its caller is gone."""
    first = SharedReading.objects.filter(key=key).values_list("token", "until").first()
    if first is None:
        return None
    reading = SharedReading.objects.filter(key=key, token=first[0])
    look_at = time.monotonic() + _LOOK_SECONDS
    while (row := reading.first()) is not None:
        if row.answer is not None:
            answer: dict[str, Any] = json.loads(row.answer)
            return answer
        if time.monotonic() > look_at:
            if not _lives(first[0]):
                reading.filter(answered_at=None).delete()
            look_at = time.monotonic() + _LOOK_SECONDS
        time.sleep(_POLL_SECONDS)
    return None


def _lock_of(token: uuid.UUID) -> dict[str, int]:
    return {"lock": _LOCK, "caller": int.from_bytes(token.bytes[:4], "big", signed=True)}


def _let_go(token: uuid.UUID) -> None:
    # A session that is lost has let go by itself.
    with contextlib.suppress(DatabaseError), database.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%(lock)s, %(caller)s)", _lock_of(token))


def _lives(token: uuid.UUID) -> bool:
    """Whether the session of whoever claimed with this token is there: its lock cannot be had then."""
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock_shared(%(lock)s, %(caller)s)", _lock_of(token))
        if not cursor.fetchone()[0]:
            return True
        cursor.execute("SELECT pg_advisory_unlock_shared(%(lock)s, %(caller)s)", _lock_of(token))
    return False
