"""Everyone's last passage and the passages per hour, stored from the log.

Records may arrive late and in any order: the newest passage of a person is stored, by its time and then by its number.
A passage is a record of a person at a door, of a category that means that the door opened. Records with keys of a key
box are not passages.

Passages per door and hour of the last weeks are stored so that charts of a day need not count records. The log reports
each record once, so new ones are added. Every ten minutes the last hours are counted again, in case a listener failed.
Records that are known only from a notification are counted when the log has them.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import JSONObject

from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.history.coverage import start_of_day
from portal.domain.history.models import History
from portal.domain.history.partitions import RETENTION
from portal.domain.places.queries import use_categories
from portal.domain.presence.models import HourlyPassages, LastPassage
from portal.domain.sync.models import MirrorState
from tenants.models import Tenant
from tenants.postgresql.advisory_locks import AdvisoryLock

# The usual value of a day is taken from the same weekday of these weeks. Older hours are deleted.
WEEKS = 4
HOURS_RETENTION = timedelta(weeks=WEEKS, days=2)
_RECOUNTED_SPAN = timedelta(days=2)
_HOURS_LOCK = AdvisoryLock("presence.hours")  # one writer for each tenant

_COUNTED = """
SELECT tenant_id, date_trunc('hour', at), device_id, count(*)
  FROM {history}
 WHERE tenant_id = %(tenant)s AND at >= %(since)s AND (%(new)s::int8[] IS NULL OR id = ANY(%(new)s::int8[]))
   AND category = ANY(%(used)s) AND member_id <> '' AND device_id <> '' AND units = '[]'::jsonb AND NOT notified
 GROUP BY 1, 2, 3
"""
_WRITE = """
INSERT INTO {hours} AS h (tenant_id, hour, device_id, number) {counted}
    ON CONFLICT (tenant_id, hour, device_id) DO UPDATE SET number = excluded.number
"""
_ADD = f"{_WRITE} + h.number"
_SET = f"{_WRITE} WHERE h.number <> excluded.number"


def count_new_passages(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Add new records. Called by the mirror, in the transaction that stores them."""
    since = database_now() - HOURS_RETENTION
    found = [row for row in histories if row.at >= since]
    if found:
        _write_hours(_ADD, tenant.pk, _start_of_hour(min(row.at for row in found)), [row.pk for row in found])


def recount_hours(tenant: Tenant) -> None:
    """Count the last hours again, or all hours if there are none, and delete older ones."""
    now = database_now()
    since = _start_of_hour(now - (_RECOUNTED_SPAN if HourlyPassages.objects.exists() else HOURS_RETENTION))
    _write_hours(_SET, tenant.pk, since, None)
    HourlyPassages.objects.filter(hour__lt=now - HOURS_RETENTION).delete()


def counts_of_days(days: Sequence[date], excluded_doors: frozenset[str]) -> QuerySet[HourlyPassages, Any]:
    """Return the passages per hour of some days, without `excluded_doors`: one row for each hour."""
    within = (Q(hour__gte=start_of_day(day), hour__lt=start_of_day(day + timedelta(days=1))) for day in days)
    rows = (
        HourlyPassages.objects.filter(reduce(or_, within))
        .exclude(device_id__in=excluded_doors)
        .order_by()
        .values("hour")
    )
    return rows.annotate(n=Sum("number")).values(as_json=JSONObject(hour=F("hour"), n=F("n")))


def _write_hours(statement: str, tenant_id: int, since: datetime, new: list[int] | None) -> None:
    counted = _COUNTED.format(history=History._meta.db_table)
    values: dict[str, Any] = {"tenant": tenant_id, "since": since, "new": new, "used": use_categories()}
    _HOURS_LOCK.hold_until_commit(tenant_id)
    with connection.cursor() as cursor:
        cursor.execute(statement.format(hours=HourlyPassages._meta.db_table, counted=counted), values)


def _start_of_hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


# Covers the records that a failed listener has missed since the beginning of yesterday.
_REFRESHED_SPAN = timedelta(days=2)

# Rows are written in the order of the IDs, so that two of these never deadlock.
_SAVE_LAST = """
INSERT INTO {inside} AS i (tenant_id, member_id, at, history_id, device_id, device_name)
SELECT DISTINCT ON (member_id) tenant_id, member_id, at, history_id, device_id, device_name
  FROM {history}
 WHERE tenant_id = %(tenant)s AND at >= %(since)s AND (%(new)s::int8[] IS NULL OR id = ANY(%(new)s::int8[]))
   AND category = ANY(%(used)s) AND member_id <> '' AND device_id <> '' AND units = '[]'::jsonb
 ORDER BY member_id, at DESC, history_id DESC
    ON CONFLICT (tenant_id, member_id) DO UPDATE
   SET at = excluded.at, history_id = excluded.history_id,
       device_id = excluded.device_id, device_name = excluded.device_name
 WHERE (i.at, i.history_id) < (excluded.at, excluded.history_id)
"""


def save_new_passages(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Save passages of new records. Called by the mirror, in the transaction that stores them."""
    if histories:
        _save_last_passages(tenant.pk, min(row.at for row in histories), [row.pk for row in histories])


def refresh_passages(tenant: Tenant) -> None:
    """Save recent passages of the tenant's log again, delete expired ones, and count the last hours."""
    now = database_now()
    with transaction.atomic():
        _save_last_passages(tenant.pk, now - _REFRESHED_SPAN, None)
        LastPassage.objects.filter(at__lt=now - RETENTION).delete()
        recount_hours(tenant)


def loaded_logs() -> list[QuerySet[MirrorState]]:
    """Return the logs that are loaded, of all tenants."""
    return [MirrorState.objects_across_tenants.filter(kind=MirrorKind.HISTORIES, as_of__isnull=False)]


def _save_last_passages(tenant_id: int, since: datetime, new: list[int] | None) -> None:
    names = {"inside": LastPassage._meta.db_table, "history": History._meta.db_table}
    values: dict[str, Any] = {"tenant": tenant_id, "since": since, "new": new, "used": use_categories()}
    with connection.cursor() as cursor:
        cursor.execute(_SAVE_LAST.format(**names), values)
