"""The mirror's tasks. Timers and progress stand in PostgreSQL; a task only says that somebody should look."""

from portal.core.mirror import sync as syncing
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=280)
def sync(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        syncing.due()
