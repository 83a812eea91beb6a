"""Locks with a name, held in PostgreSQL, so that one process at a time does something:

    _NAMES = AdvisoryLock("guests.names")
    _NAMES.hold_until_commit(tenant.pk, name)

A lock is held for its name and for what the caller adds: IDs, or text. Add the tenant, unless an ID is unique in all
tenants. PostgreSQL releases the locks of a process that dies.

Keys are 64 bits of a digest. Locks of `session_locks.py` have two keys of 32 bits: for PostgreSQL these never are the
same locks.
"""

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator

from django.db import Error
from django.db import connection as database

_FIRST_PAUSE, _MAX_PAUSE = 0.02, 0.25
_names: set[str] = set()


class AdvisoryLock:
    """A lock of one module. Each name is used once, so no other module can hold it by mistake."""

    def __init__(self, name: str) -> None:
        if name in _names:
            raise ValueError(f"another lock has the name {name!r}")
        _names.add(name)
        self.name = name

    def hold_until_commit(self, *ids: int | str) -> None:
        """Wait for the lock, then hold it until the transaction ends."""
        self._call("pg_advisory_xact_lock", ids)

    def try_until_commit(self, *ids: int | str) -> bool:
        """Take the lock until the transaction ends, without waiting. Return whether it was free."""
        return self._call("pg_try_advisory_xact_lock", ids)

    @contextlib.contextmanager
    def held(self, *ids: int | str, wait_seconds: float = 0.0) -> Iterator[bool]:
        """Hold the lock for the block, which needs no transaction. Yield False if it was not free in this time."""
        until, pause = time.monotonic() + wait_seconds, _FIRST_PAUSE
        while not (is_held := self._call("pg_try_advisory_lock", ids)) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(pause * 1.5, _MAX_PAUSE)
        try:
            yield is_held
        finally:
            if is_held:
                with contextlib.suppress(Error):  # a lost session has released it already
                    self._call("pg_advisory_unlock", ids)

    def is_free(self, *ids: int | str) -> bool:
        """Return whether no other session holds the lock."""
        with self.held(*ids) as is_held:
            return is_held

    def _call(self, function: str, ids: tuple[int | str, ...]) -> bool:
        digest = hashlib.sha256(json.dumps([self.name, *ids]).encode()).digest()
        with database.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [int.from_bytes(digest[:8], "big", signed=True)])
            return bool(cursor.fetchone()[0])
