"""How far this database has come, as the broker remembers it: a disk that was set back is the same one, and behind.

PostgreSQL's log of changes only grows, as long as nothing is lost. The leading clock leaves its position with the
broker at each tick. Each worker and clock compares once after a start of the server, without which no disk is set back.
The broker may forget at any time: then nothing is found so, and an operator says it (`manage.py after_restore`).
"""

from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.db.models import BooleanField, DateTimeField, ExpressionWrapper, Func, TextField
from redis import Redis
from redis.exceptions import RedisError

from portal.core.timers.database_identity import DatabaseIdentity, is_from_other_database
from portal.core.timers.models import Lease
from portal.site import broker

log = structlog.get_logger(__name__)
# The clock renews its lease each second: the broker does not hold it up for longer than this.
_BROKER_SECONDS = 0.2
# The start of the server with whose database this process has compared.
_compared: datetime | None = None


class DatabasePosition(NamedTuple):
    """Whether this is another database than the clock's row says; which it is; how many bytes of changes it has seen,
    none where the server may forget what it has confirmed, as in a trial; when the server started.
    """

    is_other_database: bool
    database: str
    wal_bytes: str | None
    server_started_at: datetime


def read_position() -> DatabasePosition | None:
    """Return where the database is; None where no clock has run. What is committed later makes it durable."""
    written = Func(
        template="CASE WHEN current_setting('synchronous_commit') <> 'off'"
        " THEN (pg_current_wal_insert_lsn() - '0/0')::text END",
        output_field=TextField(),
    )
    server = Func(function="pg_postmaster_start_time", output_field=DateTimeField())
    is_another = ExpressionWrapper(is_from_other_database(), output_field=BooleanField())
    rows = Lease.objects.values_list(is_another, DatabaseIdentity(), written, server)
    return next((DatabasePosition(*row) for row in rows[:1]), None)


def is_behind(place: DatabasePosition) -> bool:
    """Return whether the broker remembers more. Not asked again in this start of the server once it was answered."""
    if place.wal_bytes is None or place.server_started_at == _compared:
        return False
    try:
        remembered: Any = _broker_client(settings.REDIS_URL).get(_key(place)) or 0
    except (RedisError, OSError):
        return False  # asked again
    # The clock may have left a later position since this one was read: only one that is read now can be behind it.
    now = place if int(place.wal_bytes) >= int(remembered) else read_position()
    if now is None or now.wal_bytes is None or now.server_started_at != place.server_started_at:
        return False  # asked again
    if int(now.wal_bytes) >= int(remembered):
        mark_compared(place)
        return False
    log.warning("database_was_set_back", position=now.wal_bytes, remembered=int(remembered))
    return True


def mark_compared(place: DatabasePosition) -> None:
    """Do not ask again: it is not behind, or the clock's row says so from now on."""
    global _compared
    _compared = place.server_started_at


def store_position(place: DatabasePosition | None) -> None:
    """Leave it with the broker, unless this process has not compared yet: then it could hide that it is behind."""
    if place is not None and place.server_started_at == _compared:
        _store(place)


def reset_position() -> None:
    """Let this position count, however far the broker remembers the database: what was lost is known."""
    if place := read_position():
        _store(place)


def _store(place: DatabasePosition) -> None:
    if place.wal_bytes is None:
        return
    try:
        _broker_client(settings.REDIS_URL).set(_key(place), place.wal_bytes)
    except (RedisError, OSError) as error:
        log.warning("position_not_kept", error=type(error).__name__)


def _key(place: DatabasePosition) -> str:
    return f"portal.position.{place.database}"


@cache
def _broker_client(address: str) -> Redis:
    return broker.client(_BROKER_SECONDS)
