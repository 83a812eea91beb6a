"""Giving up on a database that is lost, which a web process otherwise waits for without end.

A network that drops packets is noticed by TCP (`CONNECTION_TIMEOUTS`). A server that stands still while its machine
acknowledges
every byte is not: whoever waits for a statement opens a second connection now and then, and goes on waiting only while
that succeeds, so that a long statement may take its time.
"""

import time
from typing import Any

import psycopg
import structlog
from psycopg import errors

log = structlog.get_logger(__name__)

#: Seconds that a statement may take before the server is asked whether it lives, and for its answer.
PROBE_AFTER_SECONDS, PROBE_TIMEOUT_SECONDS = 3.0, 2
#: Seconds that a request waits for a connection, and for which others are refused at once after one waited in vain.
CONNECT_TIMEOUT_SECONDS, OUTAGE_SECONDS = 3, 2.0
#: What each connection is opened with where the address says nothing else (milliseconds and seconds of libpq).
CONNECTION_TIMEOUTS = {
    "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    "tcp_user_timeout": 5000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}


class ProbingConnection(psycopg.Connection[Any]):
    """A connection whose statements give up when the server does not live any more. Raises OperationalError."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Consume a generator as psycopg does, and look whether the server lives while it takes long."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        while True:
            try:
                return super().wait(gen, interval, PROBE_AFTER_SECONDS)
            except errors._WaitTimeout:
                if self._is_lost():
                    log.error("database_lost", host=self.info.host)
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the database does not answer any more") from None

    def _is_lost(self) -> bool:
        try:
            psycopg.connect(self.info.dsn, password=self.info.password, connect_timeout=PROBE_TIMEOUT_SECONDS).close()
        except psycopg.OperationalError:
            return True
        return False


class Outage:
    """Whether a connection was waited for in vain a moment ago: those who ask then are refused at once."""

    def __init__(self) -> None:
        self._until = 0.0

    def check(self) -> None:
        """Raise OperationalError while the database is known to be away."""
        if time.monotonic() < self._until:
            raise psycopg.OperationalError("the database was away a moment ago")

    def record(self) -> None:
        self._until = time.monotonic() + OUTAGE_SECONDS
