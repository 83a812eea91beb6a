"""How far this database has come, as the broker remembers it: a disk that was set back is the same one, and behind.

PostgreSQL's log of changes only grows, as long as nothing is lost. The leading clock leaves its position with the
broker at each tick. Each session of a worker or a clock compares once, since no session outlives such a disk. The
broker may forget at any time: then nothing is found in this way, and an operator says so (`manage.py after_restore`).
"""

from typing import Any

import structlog
from django.db import connection
from django.db.models import Func, TextField
from redis.exceptions import RedisError

from portal.core.timers.identity import Identity
from portal.core.timers.models import Lease
from portal.site import broker

log = structlog.get_logger(__name__)
# The clock renews its lease each second: the broker does not hold it up for longer than this.
_PATIENCE = 0.2


class _Position(Func):
    """Bytes of changes so far; none where the server may forget what it has confirmed, as in a trial."""

    template = (
        "CASE WHEN current_setting('synchronous_commit') <> 'off' THEN (pg_current_wal_insert_lsn() - '0/0')::text END"
    )
    arity = 0
    output_field = TextField()


Place = tuple[str, int]


def here() -> Place | None:
    """Return the key of this database, and how far it has come. What is written after this call makes it durable."""
    row = Lease.objects.values_list(Identity(), _Position()).first()
    return None if row is None or row[1] is None else (f"portal.position.{row[0]}", int(row[1]))


def leave(place: Place | None) -> None:
    """Leave it with the broker, unless this session has not compared yet: then it could hide that it is behind."""
    if place is not None and _has_compared():
        _write(place)


def begin_anew() -> None:
    """Let this position count, however far the broker remembers the database: what was lost is known."""
    if place := here():
        _write(place)


def is_behind() -> bool:
    """Return whether the database has come less far than the broker remembers. True once for a session at most."""
    connection.ensure_connection()
    if _has_compared():
        return False
    place = here()
    remembered = _remembered(place)
    connection.connection.portal_compared = remembered is not None
    if not place or not remembered or place[1] >= remembered:
        return False
    log.warning("database_was_set_back", position=place[1], remembered=remembered)
    return True


def _has_compared() -> bool:
    return getattr(connection.connection, "portal_compared", False)


def _write(place: Place) -> None:
    try:
        with broker.client(_PATIENCE) as remembering:
            remembering.set(*place)
    except (RedisError, OSError) as error:
        log.warning("position_not_kept", error=type(error).__name__)


def _remembered(place: Place | None) -> int | None:
    """Return what the broker remembers: 0 where it remembers nothing, None where it does not answer."""
    if place is None:
        return 0
    try:
        with broker.client(_PATIENCE) as remembering:
            found: Any = remembering.get(place[0])
    except (RedisError, OSError):
        return None
    return int(found or 0)
