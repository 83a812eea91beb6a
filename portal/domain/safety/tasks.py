"""The task that ends a change that was not confirmed in time."""

from portal.base.timers.celery_app import portal_task
from portal.domain.safety import changing
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=30)
def expire(tenant_id: int, change_id: int) -> None:
    with tenant_scope(tenant_id):
        changing.expire(change_id)
