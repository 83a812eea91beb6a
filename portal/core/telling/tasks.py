"""The bell of tellings."""

from portal.core.telling import sending
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=60)
def tell(tenant_id: int, telling_id: int) -> None:
    with tenant_scope(tenant_id):
        sending.tell(telling_id)
