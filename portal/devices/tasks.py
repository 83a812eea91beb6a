"""The bells of the watch over doors."""

from portal.devices import watch
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=280)
def read_stale(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        watch.read_stale()
