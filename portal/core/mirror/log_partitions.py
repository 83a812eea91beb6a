"""The log's tables have a part for each month: what is old goes by dropping a part, and a page reads the newest first.

A part is made when a record of its month comes for the first time. What a device dates into another age lies in the
default part, which is small. Months are those of the service's clock. Making and dropping are functions of the tables'
owner (migration 0002), since the site's role owns nothing.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog
from django.db import connection as database
from django.db import transaction

from accessapi.limits import JST
from portal.core.mirror.last_seen import PRECISION
from portal.core.timers import rounds
from portal.core.timers.clock import database_now
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)

TABLES = ("mirror_history", "mirror_historysearch")
# Longer than the service tells of (a year), so that nothing goes that it could still be asked for. The function that
# drops a part refuses what is younger.
RETENTION = timedelta(days=400)
_created_months: set[str] = set()


def ensure_partitions(moments: Iterable[datetime]) -> None:
    """Make the parts that records of these moments belong into, if they lie within what is kept."""
    now = database_now()
    months = {_month_start(at) for at in moments if now - RETENTION <= at <= now + timedelta(days=40)}
    for month in sorted(months, key=_month_name):
        if _month_name(month) not in _created_months:
            create_partition(month)
            transaction.on_commit(partial(_created_months.add, _month_name(month)))


def create_partition(month: datetime) -> None:
    """Make a month's parts, with what the default parts hold of it, unless they are there."""
    with database.cursor() as cursor:
        cursor.execute("SELECT mirror_make_month(%s)", [month.date()])


def drop_old_partitions() -> list[str]:
    """Drop the parts that ended before what is kept, and forget whom only they knew. Returns their names."""
    kept_from = database_now() - RETENTION
    with across_tenants("months of all tenants end together"), transaction.atomic(), database.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '3s'")
        cursor.execute(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = ANY(%s::regclass[]) AND c.relname ~ '_[0-9]{4}_[0-9]{2}$' ORDER BY 1",
            [list(TABLES)],
        )
        old = [name for (name,) in cursor.fetchall() if _partition_end(name) <= kept_from]
        for month in sorted({_partition_start(part) for part in old}):
            cursor.execute(_SUBTRACT_DROPPED, [month, _month_start(month + timedelta(days=32))])
            cursor.execute("SELECT mirror_drop_month(%s)", [month.date()])
        for table in TABLES:
            cursor.execute(f"DELETE FROM {table} WHERE at < %s", [_month_start(kept_from)])  # noqa: S608 - our names
        cursor.execute("DELETE FROM mirror_historyday WHERE day < %s", [kept_from])
        if old:
            # A mark may be a day older than the record it is about (`seen.PRECISION`).
            gone = max(map(_partition_end, old)) - PRECISION
            cursor.execute("UPDATE mirror_member SET last_seen_at = NULL WHERE last_seen_at < %s", [gone])
            log.info("log_months_dropped", parts=old)
    _created_months.difference_update(name[-7:] for name in old)
    return old


_SUBTRACT_DROPPED = """
UPDATE mirror_mirrorstate s SET total = s.total - gone.n
FROM (SELECT tenant_id, count(*) AS n FROM mirror_history WHERE at >= %s AND at < %s GROUP BY 1) gone
WHERE s.tenant_id = gone.tenant_id AND s.kind = 'histories'
"""


def _month_start(at: datetime) -> datetime:
    return at.astimezone(JST).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _month_name(month: datetime) -> str:
    return f"{month:%Y_%m}"


def _partition_start(part: str) -> datetime:
    year, month = map(int, part[-7:].split("_"))
    return datetime(year, month, 1, tzinfo=JST)


def _partition_end(part: str) -> datetime:
    return _month_start(_partition_start(part) + timedelta(days=32)).astimezone(UTC)


def maintain_partitions() -> None:
    """Make the next month's parts before its first record comes, and drop what is old. All tenants share the parts."""
    now = database_now()
    ensure_partitions([now, now + timedelta(days=10)])
    drop_old_partitions()


def _steps(after: int) -> Iterator[int]:
    yield after
    maintain_partitions()


def register() -> None:
    rounds.register("log_months", _steps, every=6 * 3600.0, queue="sync")
