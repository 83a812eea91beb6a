"""Records whether anyone has a tenant's board of doors open. The boards' own requests show it.

A board in a hidden tab sends no requests, so it soon counts as closed.
"""

from datetime import timedelta
from typing import Any

from django.db import connection as database
from django.db.models import QuerySet

from portal.base.timers.clock import ClockTime
from portal.devices.models import BoardSight
from tenants.scope import current_tenant_id

# A board sends a request every five seconds, or less often if many pages are open.
_VIEWED_FOR = timedelta(seconds=60)
_RECORD_EVERY = timedelta(seconds=20)

_RECORD_BOARD_VIEWER = """
INSERT INTO devices_boardsight AS s (tenant_id, looked_at) VALUES (%(tenant)s, clock_timestamp())
ON CONFLICT (tenant_id) DO UPDATE SET looked_at = EXCLUDED.looked_at
WHERE s.looked_at < EXCLUDED.looked_at - %(grain)s
"""


def record_board_viewer() -> None:
    """Record that the board of the tenant in scope is open, at most every 20 seconds."""
    values: dict[str, Any] = {"tenant": current_tenant_id(), "grain": _RECORD_EVERY}
    with database.cursor() as cursor:
        cursor.execute(_RECORD_BOARD_VIEWER, values)


def boards_viewed_now(rows: QuerySet[BoardSight]) -> QuerySet[BoardSight]:
    """Return the rows whose board is open now."""
    return rows.filter(looked_at__gt=ClockTime() - _VIEWED_FOR)
