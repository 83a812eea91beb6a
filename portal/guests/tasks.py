"""The tasks of the desk. Each carries only IDs; the visit's row decides whether there is work."""

from portal.base.timers.celery_app import portal_task
from portal.guests import deactivation
from tenants.scope import tenant_scope


@portal_task(queue="interactive", promise="idempotent", seconds=50)
def cut(tenant_id: int, visit_id: int) -> None:
    with tenant_scope(tenant_id):
        deactivation.process_due(visit_id)
