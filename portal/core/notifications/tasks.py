"""The task that sends a notification."""

from portal.core.notifications import sending
from portal.site.celery import portal_task
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=60)
def send_notification(tenant_id: int, telling_id: int) -> None:
    with tenant_scope(tenant_id):
        sending.send(telling_id)
