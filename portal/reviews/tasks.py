"""Celery tasks of reviews. Each gets an ID; the row decides whether anything is done."""

from portal.base.timers.celery_app import portal_task
from portal.reviews import review_worker
from tenants.scope import tenant_scope


@portal_task(queue="bulk", promise="idempotent", seconds=280)
def step(tenant_id: int, review_id: int) -> None:
    with tenant_scope(tenant_id):
        review_worker.run_steps(review_id)


@portal_task(queue="bulk", promise="idempotent", seconds=120)
def remind(tenant_id: int, review_id: int) -> None:
    with tenant_scope(tenant_id):
        review_worker.remind(review_id)
