"""People who ask the service the same thing at the same moment share one call, whichever process they are in.

The first to ask writes a row and makes the call; the others wait for its answer, which rests encrypted for seconds.
When the first one fails or dies, the next makes the call itself: an error is nobody else's answer.
"""

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.db import connection as database

from portal.core.mirror.models import SharedReading
from portal.core.mirror.models.state import sealing_field
from tenants import living
from tenants.scope import current_tenant_id

# Longer than any call may take (connect 3 s, answer 30 s): after that its caller is surely dead.
_CALL_SECONDS = 40
# How often those who wait look whether the caller lives (see `tenants.living`), so that its death is noticed at once.
_LOOK_SECONDS = 0.5
_KEEP_SECONDS = 5
_POLL_SECONDS = 0.05

_CLAIM = f"""
INSERT INTO mirror_sharedreading AS r (tenant_id, key, token, until)
VALUES (%(tenant)s, %(key)s, %(token)s, clock_timestamp() + %(seconds)s * interval '1 second')
ON CONFLICT (tenant_id, key)
DO UPDATE SET token = EXCLUDED.token, until = EXCLUDED.until, answered_at = NULL, answer = NULL
WHERE r.answered_at IS NOT NULL OR r.until < clock_timestamp()
RETURNING {living.HELD.replace("%s", "%(token)s")}
"""  # noqa: S608 - our own words
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
                living.let_go(token)
        answer = _awaited(key)
        if answer is not None:
            return answer, False


def _claim(key: str) -> uuid.UUID | None:
    token = uuid.uuid4()
    tenant_id = current_tenant_id()
    values: dict[str, Any] = {"tenant": tenant_id, "key": key, "token": token, "seconds": _CALL_SECONDS}
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
            if not living.lives(first[0]):
                reading.filter(answered_at=None).delete()
            look_at = time.monotonic() + _LOOK_SECONDS
        time.sleep(_POLL_SECONDS)
    return None
