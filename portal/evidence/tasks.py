"""The bells of video and pictures to fetch, of exports to write, and of incidents whose time is over."""

from portal.evidence import exporting, fetching, retention
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=280)
def fetch(tenant_id: int, item_id: int) -> None:
    with tenant_scope(tenant_id):
        fetching.fetch(item_id)


@promised(queue="bulk", promise="idempotent", seconds=280)
def export(tenant_id: int, export_id: int) -> None:
    with tenant_scope(tenant_id):
        exporting.write(export_id)


@promised(queue="bulk", promise="idempotent")
def delete(tenant_id: int, incident_id: int) -> None:
    with tenant_scope(tenant_id):
        retention.delete_after(incident_id)
