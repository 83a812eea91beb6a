"""Whether a tenant's board of doors is in sight of somebody: told by the boards' own requests, of all viewers together.

A board in a tab that nobody looks at asks nothing, so it is out of sight soon after.
"""

from datetime import timedelta
from typing import Any

from django.db import connection as database
from django.db.models import QuerySet

from portal.core.timers.clock import ClockTime
from portal.devices.models import BoardSight
from tenants.scope import current_tenant_id

# A board asks every five seconds; many pages open have it ask less.
VIEWED_FOR = timedelta(seconds=60)
_WRITE_EVERY = timedelta(seconds=20)

_RECORD_VIEWER = """
INSERT INTO devices_boardsight AS s (tenant_id, looked_at) VALUES (%(tenant)s, clock_timestamp())
ON CONFLICT (tenant_id) DO UPDATE SET looked_at = EXCLUDED.looked_at
WHERE s.looked_at < EXCLUDED.looked_at - %(grain)s
"""


def record_viewer() -> None:
    """Note that somebody looks at the board of the tenant in scope, written every 20 seconds at most."""
    values: dict[str, Any] = {"tenant": current_tenant_id(), "grain": _WRITE_EVERY}
    with database.cursor() as cursor:
        cursor.execute(_RECORD_VIEWER, values)


def viewed_now(rows: QuerySet[BoardSight]) -> QuerySet[BoardSight]:
    """Return those of the rows whose board is in sight now."""
    return rows.filter(looked_at__gt=ClockTime() - VIEWED_FOR)
