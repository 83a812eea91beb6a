"""Recognise a restored database: another one, or one whose disk was set back.

The identity consists of the cluster's identifier, its timeline, and the numbers of the database and the table. The
timeline grows when a file backup is replayed or a standby takes over. Loading a dump changes at least one of the parts.
If it differs from the one at the clock's last tick, a backup was restored.

The position in PostgreSQL's log of changes only grows, unless data is lost. The leading clock stores it with the broker
at each tick. Each worker and clock compares once after a start of the server, because a disk is only set back before a
start. If the broker has lost the position, an operator must run `manage.py after_restore`.
"""

from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.db.models import BooleanField, DateTimeField, Exists, ExpressionWrapper, Func, Q, TextField
from redis import Redis
from redis.exceptions import RedisError

from portal.base.timers import celery_app
from portal.base.timers.models import Lease

log = structlog.get_logger(__name__)


class DatabaseIdentity(Func):
    """The identity of the database that runs the statement."""

    template = (
        "(SELECT concat_ws('.', s.system_identifier, c.timeline_id, d.oid, to_regclass('timers_lease')::oid)"
        " FROM pg_control_system() s, pg_control_checkpoint() c, pg_database d WHERE d.datname = current_database())"
    )
    arity = 0
    output_field = TextField()


def is_from_other_database() -> Q:
    """Return a condition for the clock's row: it was written in another database."""
    return ~Q(identity="") & ~Q(identity=DatabaseIdentity())


def is_unchecked_copy() -> Exists:
    """Return a condition: this database is a copy that has not been marked yet. No request may be sent from it."""
    return Exists(Lease.objects.filter(is_from_other_database()))


# The clock renews its lease each second, so it must not wait for the broker longer than this.
_BROKER_SECONDS = 0.2
# The start time of the server with which this process has compared.
_compared: datetime | None = None


class DatabasePosition(NamedTuple):
    """The position of the database.

    `is_other_database`: it is not the database of the clock's row. `wal_bytes`: the bytes of changes so far; None if
    the server may lose confirmed changes, as in a trial.
    """

    is_other_database: bool
    database: str
    wal_bytes: str | None
    server_started_at: datetime


def read_position() -> DatabasePosition | None:
    """Return the database's position; None if no clock has run. A later commit makes it durable."""
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
    """Return True if the broker stores a later position. It is compared only once per start of the server."""
    if place.wal_bytes is None or place.server_started_at == _compared:
        return False
    try:
        remembered: Any = _quick_client(settings.REDIS_URL).get(_key(place)) or 0
    except (RedisError, OSError):
        return False  # asked again
    # The clock may have stored a later position since this one was read, so read it again.
    now = place if int(place.wal_bytes) >= int(remembered) else read_position()
    if now is None or now.wal_bytes is None or now.server_started_at != place.server_started_at:
        return False  # asked again
    if int(now.wal_bytes) >= int(remembered):
        mark_compared(place)
        return False
    log.warning("database_was_set_back", position=now.wal_bytes, remembered=int(remembered))
    return True


def mark_compared(place: DatabasePosition) -> None:
    """Do not compare again: the database is not behind, or the clock's row shows it from now on."""
    global _compared
    _compared = place.server_started_at


def store_position(place: DatabasePosition | None) -> None:
    """Store the position with the broker, but only after comparing, so that an older database is not missed."""
    if place is not None and place.server_started_at == _compared:
        _store(place)


def reset_position() -> None:
    """Store the current position, even if the broker has a later one, because the loss is known."""
    if place := read_position():
        _store(place)


def _store(place: DatabasePosition) -> None:
    if place.wal_bytes is None:
        return
    try:
        _quick_client(settings.REDIS_URL).set(_key(place), place.wal_bytes)
    except (RedisError, OSError) as error:
        log.warning("database_position_not_stored", error=type(error).__name__)


def _key(place: DatabasePosition) -> str:
    return f"portal.position.{place.database}"


@cache
def _quick_client(address: str) -> Redis:
    return celery_app.broker_client(_BROKER_SECONDS)
