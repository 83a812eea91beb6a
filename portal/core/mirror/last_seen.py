"""Whom the log knows, kept with the member, so that nobody searches the log for those who are not there.

`Member.last_seen_at` is the moment of the newest record about a member, to within a day: it moves only when a record is
a day newer, since each move writes the member's row and all its index entries, and people come and go many times a day.
None: no record that the portal has is about this member.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection as database
from django.db.models import Max

from portal.core.mirror.models import History
from tenants.scope import current_tenant_id

PRECISION = timedelta(days=1)
# First key of the advisory locks of this module; the second is the tenant.
_LOCK = 0x5EE4

# Rows are locked in the order in which our own writes lock them, so that neither waits for the other for ever.
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


def update_last_seen(record_keys: Sequence[int]) -> None:
    """Records with these keys were just inserted. Inside the transaction that inserted them."""
    lock_last_seen()
    values: dict[str, Any] = {"tenant": current_tenant_id(), "new": list(record_keys), "grain": PRECISION}
    with database.cursor() as cursor:
        cursor.execute(_UPDATE, values)


def last_seen_of(member_ids: Iterable[str]) -> dict[str, datetime]:
    """The newest record about each of these members, for those who become known after their records."""
    theirs = History.objects.exclude(member_id="").filter(member_id__in=set(member_ids)).order_by()
    return dict(theirs.values_list("member_id").annotate(Max("at")))


def lock_last_seen() -> None:
    """New records and a new list of members wait for each other: else a member who comes with the one and a record that
    comes with the other would not see each other. Until the transaction ends.
    """
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, current_tenant_id()])
