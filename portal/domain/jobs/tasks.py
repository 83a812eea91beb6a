"""Celery tasks of jobs. Each gets IDs only; the job's row decides whether anything is done."""

from portal.base.timers.celery_app import portal_task
from portal.domain.jobs import kinds
from portal.domain.jobs.advancing import advance_job
from portal.domain.jobs.models import Job
from tenants.scope import tenant_scope


@portal_task(queue="bulk", promise="idempotent", seconds=280)
def check(tenant_id: int, job_id: int) -> None:
    with tenant_scope(tenant_id):
        job = Job.objects.filter(pk=job_id).first()
        if job is not None:
            kinds.kind_of(job).check(job_id)


@portal_task(queue="bulk", promise="idempotent", seconds=120)
def advance(tenant_id: int, job_id: int) -> None:
    with tenant_scope(tenant_id):
        advance_job(job_id)
