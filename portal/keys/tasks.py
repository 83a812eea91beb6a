"""Celery tasks that read key boxes."""

from portal.base.timers.celery_app import portal_task
from portal.keys import status_reading
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=280)
def read_stale(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        status_reading.read_due_boxes()
