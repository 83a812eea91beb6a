"""Give up on an unreachable database, for which a web process would otherwise wait without end.

TCP detects a network that drops packets (`CONNECTION_TIMEOUTS`), but not a hanging server whose machine still
acknowledges every byte. So while a statement takes long, a second connection is opened from time to time. The statement
may continue as long as that succeeds.
"""

import time
from typing import Any

import psycopg
import structlog
from psycopg import errors

log = structlog.get_logger(__name__)

#: Seconds before a running statement's server is probed, and seconds to wait for its answer.
PROBE_AFTER_SECONDS, PROBE_TIMEOUT_SECONDS = 3.0, 2
#: Seconds that a request waits for a connection, and seconds for which others are refused at once after that.
CONNECT_TIMEOUT_SECONDS, OUTAGE_SECONDS = 3, 2.0
#: Defaults for each connection, which the address may override (milliseconds and seconds of libpq).
CONNECTION_TIMEOUTS = {
    "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    "tcp_user_timeout": 5000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}


class ProbingConnection(psycopg.Connection[Any]):
    """A connection whose statements stop if the server does not answer any more. Raises OperationalError."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Consume a generator as psycopg does, and probe the server while it takes long."""
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
    """The state after a failed connection: for a moment, other requests are refused at once."""

    def __init__(self) -> None:
        self._until = 0.0

    def check(self) -> None:
        """Raise OperationalError while the database is known to be unreachable."""
        if time.monotonic() < self._until:
            raise psycopg.OperationalError("the database was away a moment ago")

    def record(self) -> None:
        self._until = time.monotonic() + OUTAGE_SECONDS
