"""The bells of lists. Each carries ids; the row it names decides whether anything is done."""

from portal.expected import sending
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="bulk", promise="idempotent", seconds=60)
def advance(tenant_id: int, list_id: int) -> None:
    with tenant_scope(tenant_id):
        sending.advance(list_id)
