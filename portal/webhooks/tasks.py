"""Celery tasks that process notifications."""

from portal.base.timers.celery_app import portal_task
from portal.webhooks import processing
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=60)
def process(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        processing.process_pending()
