"""The bell of notifications."""

from portal.hooks import hints
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=60)
def look(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        hints.look()
