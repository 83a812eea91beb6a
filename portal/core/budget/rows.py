"""What the ledger reads and writes at each call, in SQL: calls are counted on the way of every click and every page.

The gauge's row is locked by the first statement, so what the next ones see and write is exact.
"""

from datetime import datetime
from typing import Any

from django.db import connection as database

from accessapi.operations import CallClass
from portal.core.budget.models import Gauge
from portal.core.budget.priorities import MARGIN_SECONDS, STEP_SECONDS, Priority
from tenants.models import Connection

Steps = tuple[tuple[int, int, int], ...]

_FIELDS = [field.attname for field in Gauge._meta.concrete_fields]
_LOCKED = f"""
SELECT {", ".join(_FIELDS)} FROM budget_gauge
WHERE tenant_id = %s AND connection_id = %s AND generation = %s AND call_class = %s FOR UPDATE
"""  # noqa: S608 - our own column names
_COUNTED = """
SELECT t.now, s.step, s.priority, s.counted FROM (SELECT clock_timestamp() AS now) t
LEFT JOIN budget_spent s ON s.gauge_id = %s AND s.counted > 0
AND s.step >= (floor(extract(epoch FROM t.now))::int8 - %s) / %s
ORDER BY s.step
"""
_TAKE = """
WITH gauge AS (
    UPDATE budget_gauge SET taken = %s, tried_at = %s WHERE id = %s RETURNING id, tenant_id
)
INSERT INTO budget_spent AS s (tenant_id, gauge_id, step, priority, calls, counted)
SELECT tenant_id, id, %s, %s, 1, 1 FROM gauge
ON CONFLICT (gauge_id, step, priority) DO UPDATE SET calls = s.calls + 1, counted = s.counted + 1
"""


def locked(connection: Connection, call_class: CallClass) -> Gauge | None:
    """The gauge of the connection's token, its row locked until the transaction ends; None while there is none."""
    with database.cursor() as cursor:
        cursor.execute(_LOCKED, [connection.tenant_id, connection.pk, connection.token_generation, str(call_class)])
        row = cursor.fetchone()
    return None if row is None else Gauge.from_db(database.alias, _FIELDS, row)


def counted(gauge: Gauge, window: int) -> tuple[datetime, Steps]:
    """The database's time, and (step, priority, calls) of what still counts in a window of so many seconds."""
    with database.cursor() as cursor:
        cursor.execute(_COUNTED, [gauge.pk, window + MARGIN_SECONDS, STEP_SECONDS])
        rows = cursor.fetchall()
    return rows[0][0], tuple(tuple(steps) for _now, *steps in rows if steps[0] is not None)


def take(gauge: Gauge, step: int, priority: Priority) -> None:
    """Write one more call, as the gauge says, and to the step and priority that made it."""
    with database.cursor() as cursor:
        cursor.execute(_TAKE, [gauge.taken, gauge.tried_at, gauge.pk, step, int(priority)])


def keep(gauge: Gauge, before: dict[str, Any]) -> None:
    """Write what of a locked gauge differs from what it was."""
    changed = [name for name in _FIELDS if getattr(gauge, name) != before[name]]
    if changed:
        with database.cursor() as cursor:
            cursor.execute(
                f"UPDATE budget_gauge SET {', '.join(f'{name} = %s' for name in changed)} WHERE id = %s",  # noqa: S608
                [*(getattr(gauge, name) for name in changed), gauge.pk],
            )
