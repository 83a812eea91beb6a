"""The task that sends a notification."""

from portal.base.timers.celery_app import portal_task
from portal.domain.notifications import sending
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=60)
def send_notification(tenant_id: int, telling_id: int) -> None:
    with tenant_scope(tenant_id):
        sending.send(telling_id)
