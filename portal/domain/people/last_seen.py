"""Keep `Member.last_seen_at`, the time of a member's newest log record, to find members without records quickly.

It is up to a day old. It changes only when a record is a day newer, because each change writes the member's row and all
index entries. None: the portal has no record about this member.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection as database

from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.scope import current_tenant_id

PRECISION = timedelta(days=1)
_LOCK = AdvisoryLock("people.last_seen")

# Rows are locked in the same order as in our own writes, to avoid a deadlock.
_UPDATE = """
WITH told AS (
    SELECT member_id, max(at) AS at FROM mirror_history
    WHERE tenant_id = %(tenant)s AND id = ANY(%(new)s) AND NOT member_id = '' GROUP BY member_id
), held AS (
    SELECT m.id, told.at FROM told JOIN mirror_member m ON m.tenant_id = %(tenant)s AND m.member_id = told.member_id
    WHERE m.last_seen_at IS NULL OR m.last_seen_at < told.at - %(grain)s
    ORDER BY m.member_id FOR UPDATE OF m
)
UPDATE mirror_member m SET last_seen_at = held.at FROM held WHERE m.id = held.id
"""
_NEWEST = """
SELECT member_id, max(at) FROM mirror_history
WHERE tenant_id = %(tenant)s AND member_id = ANY(%(wanted)s) AND NOT member_id = '' GROUP BY member_id
"""


def update_last_seen(record_keys: Sequence[int]) -> None:
    """Update the members of the records with these keys. Must be called in the transaction that inserted them."""
    lock_last_seen()
    values: dict[str, Any] = {"tenant": current_tenant_id(), "new": list(record_keys), "grain": PRECISION}
    with database.cursor() as cursor:
        cursor.execute(_UPDATE, values)


def last_seen_of(member_ids: Iterable[str]) -> dict[str, datetime]:
    """Return the time of each member's newest record, for members that are added after their records."""
    wanted = set(member_ids)
    if not wanted:
        return {}
    with database.cursor() as cursor:
        cursor.execute(_NEWEST, {"tenant": current_tenant_id(), "wanted": list(wanted)})
        return dict(cursor.fetchall())


def lock_last_seen() -> None:
    """Lock `last_seen_at` until the transaction ends.

    New records and a new list of members must not be stored at the same time. Otherwise, a record could miss its new
    member, and the member the record.
    """
    _LOCK.hold_until_commit(current_tenant_id())
