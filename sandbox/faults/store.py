"""The faults that wait for calls: added, counted down by exactly one per call, deleted."""

import json
from typing import Any

from django.db import connection

from sandbox.service.models import InjectedFault

from .kinds import NO_FAULT, AnyFault, Fault, read_fault

#: Tenant of a fault for all tenants, and operation of a fault for any operation.
EVERYBODY, ANY = "", 0

# The oldest matching fault. Concurrent calls queue on its row, and continue with the next fault if it is used up:
# exactly `left` calls get it.
_TAKE_FAULT = """
UPDATE service_injectedfault SET "left" = "left" - 1
WHERE id = (
    SELECT id FROM service_injectedfault
    WHERE "left" > 0 AND tenant_id IN ('', %s) AND operation IN (0, %s)
    ORDER BY id LIMIT 1 FOR UPDATE
)
RETURNING id, kind, "values"::text, "left"
"""


def take_fault(tenant_id: str, operation: int) -> Fault:
    """Return the fault for this call, and count it down; NO_FAULT for most calls. Call it outside of a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_FAULT, [tenant_id, operation])
        found = cursor.fetchone()
    if found is None:
        return NO_FAULT
    identifier, kind, values, left = found
    if left == 0:
        InjectedFault.objects.filter(pk=identifier, left=0).delete()
    return read_fault(json.loads(values) | {"kind": kind})


def add(fault: AnyFault, *, tenant_id: str, operation: int, count: int) -> dict[str, Any]:
    """Save a fault for the next `count` matching calls, and return it for display."""
    row = InjectedFault.objects.create(
        tenant_id=tenant_id,
        operation=operation,
        kind=fault.kind,
        values=fault.model_dump(exclude={"kind"}, exclude_none=True),
        left=count,
    )
    return _to_json(row)


def list_remaining(tenant_id: str | None = None) -> list[dict[str, Any]]:
    """Return the remaining faults, the oldest first: all, or of one tenant alone."""
    rows = InjectedFault.objects.filter(left__gt=0).order_by("id")
    return [_to_json(row) for row in (rows if tenant_id is None else rows.filter(tenant_id=tenant_id))]


def clear(*, tenant_id: str | None = None, identifier: int | None = None) -> int:
    """Delete all faults, those of one tenant, or a single one. Return their number."""
    rows = InjectedFault.objects.all()
    if tenant_id is not None:
        rows = rows.filter(tenant_id=tenant_id)
    if identifier is not None:
        rows = rows.filter(pk=identifier)
    return rows.delete()[0]


def _to_json(row: InjectedFault) -> dict[str, Any]:
    head = {"id": row.pk, "tenant_id": row.tenant_id or None, "operation": row.operation or None}
    values: dict[str, Any] = row.values
    return head | {"kind": row.kind, "left": row.left} | values
