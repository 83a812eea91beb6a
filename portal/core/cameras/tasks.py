"""The bell of the watch over cameras in sight."""

from portal.core.cameras import watch
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=280)
def read_in_sight(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        watch.read_in_sight()
