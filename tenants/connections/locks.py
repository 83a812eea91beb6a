"""One process at a time per connection, by a lock that PostgreSQL releases when the process dies."""

import contextlib
from collections.abc import Iterator

from tenants.models import Connection
from tenants.postgresql.advisory_locks import AdvisoryLock

_LOCK = AdvisoryLock("connections")
_WAIT_SECONDS = 90.0


class ConnectionBusy(Exception):
    """Another process held the connection for longer than any call to the service takes."""


@contextlib.contextmanager
def exclusive(connection: Connection) -> Iterator[None]:
    """Hold the connection's lock for the block, after waiting for it. Raises ConnectionBusy after 90 seconds."""
    with _LOCK.held(connection.pk, wait_seconds=_WAIT_SECONDS) as is_held:
        if not is_held:
            raise ConnectionBusy
        yield


def is_busy(connection: Connection) -> bool:
    """Return whether a running process holds the lock."""
    return not _LOCK.is_free(connection.pk)
