"""Celery tasks that erase guests' data."""

from portal.base.timers.celery_app import portal_task
from portal.today import erasing


@portal_task(queue="bulk", promise="idempotent", seconds=280)
def erase(tenant_id: int) -> None:
    erasing.run_for_tenant(tenant_id)
