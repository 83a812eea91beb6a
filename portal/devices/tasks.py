"""Tasks that read doors and end holds."""

from portal.base.timers.celery_app import portal_task
from portal.devices import holds, status_reading
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=280)
def read_stale(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        status_reading.read_stale()


@portal_task(queue="interactive", promise="idempotent", seconds=110)
def read_soon(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        status_reading.read_soon()


@portal_task(queue="doors", promise="idempotent", seconds=30)
def end_hold(tenant_id: int, hold_id: int) -> None:
    with tenant_scope(tenant_id):
        holds.process_due(hold_id)
