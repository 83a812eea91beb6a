"""Celery tasks of active lockdowns."""

from portal.base.timers.celery_app import portal_task
from portal.lockdown import door_outcomes
from tenants.scope import tenant_scope


@portal_task(queue="doors", promise="idempotent", seconds=30)
def step(tenant_id: int, order_id: int) -> None:
    with tenant_scope(tenant_id):
        door_outcomes.run_step(order_id)
