"""Celery tasks of reports. Each gets an ID; the row decides whether anything is done."""

from portal.base.timers.celery_app import portal_task
from portal.reports import report_worker
from tenants.scope import tenant_scope


@portal_task(queue="bulk", promise="idempotent", seconds=280)
def make(tenant_id: int, report_id: int) -> None:
    with tenant_scope(tenant_id):
        report_worker.create_report(report_id)


@portal_task(queue="bulk", promise="idempotent", seconds=120)
def run(tenant_id: int, schedule_id: int) -> None:
    with tenant_scope(tenant_id):
        report_worker.run_schedule(schedule_id)
