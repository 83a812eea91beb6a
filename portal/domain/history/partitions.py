"""Monthly partitions of the log's tables: old records are deleted by dropping a partition.

A partition is created for the first record of its month, in the service's time zone. Records with far-off times are in
the small default partition. SQL functions of the tables' owner (migration 0002) create and drop partitions, because the
site's database role owns no tables.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog
from django.db import connection as database
from django.db import transaction

from accessapi.limits import JST
from portal.base.timers.clock import database_now
from portal.domain.people.row_building import PRECISION
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)

TABLES = ("history_history", "history_historysearch")
# Longer than the service's retention (a year), so that no record is deleted that could still be loaded. The SQL
# function refuses to drop newer partitions.
RETENTION = timedelta(days=400)
_created_months: set[str] = set()


def ensure_partitions(moments: Iterable[datetime]) -> None:
    """Create the partitions for records of these moments, as far as they are within the retention."""
    now = database_now()
    months = {_month_start(at) for at in moments if now - RETENTION <= at <= now + timedelta(days=40)}
    for month in sorted(months, key=_month_name):
        if _month_name(month) not in _created_months:
            create_partition(month)
            transaction.on_commit(partial(_created_months.add, _month_name(month)))


def create_partition(month: datetime) -> None:
    """Create a month's partitions if they do not exist, and move its records there from the default partition."""
    with database.cursor() as cursor:
        cursor.execute("SELECT history_make_month(%s)", [month.date()])


def drop_old_partitions() -> list[str]:
    """Drop partitions older than the retention, clear outdated `last_seen_at`, and return the partitions' names."""
    oldest = database_now() - RETENTION
    with across_tenants("months of all tenants end together"), transaction.atomic(), database.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '3s'")
        cursor.execute(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = ANY(%s::regclass[]) AND c.relname ~ '_[0-9]{4}_[0-9]{2}$' ORDER BY 1",
            [list(TABLES)],
        )
        old = [name for (name,) in cursor.fetchall() if _partition_end(name) <= oldest]
        for month in sorted({_partition_start(part) for part in old}):
            cursor.execute(_SUBTRACT_DROPPED, [month, _month_start(month + timedelta(days=32))])
            cursor.execute("SELECT history_drop_month(%s)", [month.date()])
        for table in TABLES:
            cursor.execute(f"DELETE FROM {table} WHERE at < %s", [_month_start(oldest)])  # noqa: S608 - our names
        cursor.execute("DELETE FROM history_historyday WHERE day < %s", [oldest])
        if old:
            # `last_seen_at` may be a day older than its record (`last_seen.PRECISION`).
            gone = max(map(_partition_end, old)) - PRECISION
            cursor.execute("UPDATE people_member SET last_seen_at = NULL WHERE last_seen_at < %s", [gone])
            log.info("log_months_dropped", parts=old)
    _created_months.difference_update(name[-7:] for name in old)
    return old


_SUBTRACT_DROPPED = """
UPDATE sync_mirrorstate s SET total = s.total - gone.n
FROM (SELECT tenant_id, count(*) AS n FROM history_history WHERE at >= %s AND at < %s GROUP BY 1) gone
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
    """Create the next month's partitions before its first record, and drop old ones, for all tenants together."""
    now = database_now()
    ensure_partitions([now, now + timedelta(days=10)])
    drop_old_partitions()


def maintenance_steps(after: int) -> Iterator[int]:
    """Maintain the partitions in one step, for the regular rounds."""
    yield after
    maintain_partitions()
