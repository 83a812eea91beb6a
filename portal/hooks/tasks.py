"""The bell of notifications."""

from portal.hooks import hints
from portal.site.celery import portal_task
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=60)
def process(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        hints.process_pending()
