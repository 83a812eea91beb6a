"""The bell of alerts."""

from portal.core.alerts import watching
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=60)
def look(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        watching.look()
