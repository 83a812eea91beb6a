"""Django's cache in PostgreSQL, so that counts of limits and used codes do not depend on the broker.

Each operation is one statement, so `add` and `incr` are correct with any number of processes. The table is logged:
limits and used codes survive a crash, and exist on a standby server too.
"""

from __future__ import annotations

import json
import random
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection

# For callers without a timeout: nothing is kept forever.
_MAX_SECONDS = 24 * 3600.0
_DELETE_ONE_IN = 200

_GET = "SELECT value FROM tenants_cacheentry WHERE key = %s AND expires_at > clock_timestamp()"
_SET = (
    "INSERT INTO tenants_cacheentry AS kept (key, value, expires_at)"
    " VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s))"
    " ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at"
)
_ADD = _SET + " WHERE kept.expires_at <= clock_timestamp() RETURNING 1"
_INCREMENT = (
    "UPDATE tenants_cacheentry SET value = to_jsonb((value #>> '{}')::bigint + %s)"
    " WHERE key = %s AND expires_at > clock_timestamp() RETURNING value"
)
_COUNT = (
    "INSERT INTO tenants_cacheentry AS kept (key, value, expires_at)"
    " VALUES (%s, '1', clock_timestamp() + make_interval(secs => %s))"
    " ON CONFLICT (key) DO UPDATE SET"
    " value = CASE WHEN kept.expires_at > clock_timestamp()"
    " THEN to_jsonb((kept.value #>> '{}')::bigint + 1) ELSE excluded.value END,"
    " expires_at = CASE WHEN kept.expires_at > clock_timestamp() THEN kept.expires_at ELSE excluded.expires_at END"
    " RETURNING value"
)
_TOUCH = (
    "UPDATE tenants_cacheentry SET expires_at = clock_timestamp() + make_interval(secs => %s)"
    " WHERE key = %s AND expires_at > clock_timestamp() RETURNING 1"
)


class PostgresCache(BaseCache):
    """A cache of JSON values. See Django's `BaseCache` for its methods."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        found = _execute(_GET, [self._full_key(key, version)])
        return default if found is None else json.loads(found[0])

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        _execute(_SET, [self._full_key(key, version), json.dumps(value), self._seconds(timeout)], rows=False)
        _delete_expired_sometimes()

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        _delete_expired_sometimes()
        return _execute(_ADD, [self._full_key(key, version), json.dumps(value), self._seconds(timeout)]) is not None

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return _execute(_TOUCH, [self._seconds(timeout), self._full_key(key, version)]) is not None

    def delete(self, key: str, version: int | None = None) -> bool:
        return (
            _execute("DELETE FROM tenants_cacheentry WHERE key = %s RETURNING 1", [self._full_key(key, version)])
            is not None
        )

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        found = _execute(_INCREMENT, [delta, self._full_key(key, version)])
        if found is None:
            raise ValueError(f"Key {key!r} not found")
        return int(found[0])

    def count(self, key: str, seconds: float) -> int:
        """Count this call for `key`. Return the number of calls since the first one, at most `seconds` ago."""
        _delete_expired_sometimes()
        found = _execute(_COUNT, [self._full_key(key, None), seconds])
        return int(found[0]) if found else 1

    def clear(self) -> None:
        _execute("DELETE FROM tenants_cacheentry", [], rows=False)

    def _full_key(self, key: str, version: int | None) -> str:
        return str(self.make_and_validate_key(key, version=version))

    def _seconds(self, timeout: Any) -> float:
        if timeout is DEFAULT_TIMEOUT:
            timeout = self.default_timeout
        return _MAX_SECONDS if timeout is None else max(0.0, float(timeout))


def _execute(statement: str, values: list[Any], *, rows: bool = True) -> tuple[Any, ...] | None:
    """Return the first row of the statement's result, if any. JSON is text, as Django's connection returns it."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone() if rows else None


def _delete_expired_sometimes() -> None:
    if random.randrange(_DELETE_ONE_IN) == 0:  # noqa: S311 - not a secret, only sampling
        _execute("DELETE FROM tenants_cacheentry WHERE expires_at <= clock_timestamp()", [], rows=False)
