"""Store everyone's last passage from the log.

Records may arrive late and in any order: the newest passage of a person is stored, by its time and then by its number.
A passage is a record of a person at a door, of a category that means that the door opened. Records with keys of a key
box are not passages.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from portal.base.timers.clock import database_now
from portal.domain.mirror.door_areas import use_categories
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.log_partitions import RETENTION
from portal.domain.mirror.models import History, MirrorState
from portal.domain.presence import hourly_counts
from portal.domain.presence.models import Inside
from tenants.models import Tenant

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
        Inside.objects.filter(at__lt=now - RETENTION).delete()
        hourly_counts.recount_hours(tenant)


def loaded_logs() -> list[QuerySet[MirrorState]]:
    """Return the logs that are loaded, of all tenants."""
    return [MirrorState.objects_across_tenants.filter(kind=MirrorKind.HISTORIES, as_of__isnull=False)]


def _save_last_passages(tenant_id: int, since: datetime, new: list[int] | None) -> None:
    names = {"inside": Inside._meta.db_table, "history": History._meta.db_table}
    values: dict[str, Any] = {"tenant": tenant_id, "since": since, "new": new, "used": use_categories()}
    with connection.cursor() as cursor:
        cursor.execute(_SAVE_LAST.format(**names), values)
