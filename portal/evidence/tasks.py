"""Tasks that fetch video and pictures, write exports, and delete incidents after their time."""

from portal.base.timers.celery_app import portal_task
from portal.evidence import actions, exporting, fetching
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=280)
def fetch(tenant_id: int, item_id: int) -> None:
    with tenant_scope(tenant_id):
        fetching.fetch(item_id)


@portal_task(queue="bulk", promise="idempotent", seconds=280)
def export(tenant_id: int, export_id: int) -> None:
    with tenant_scope(tenant_id):
        exporting.write_export(export_id)


@portal_task(queue="bulk", promise="idempotent")
def delete(tenant_id: int, incident_id: int) -> None:
    with tenant_scope(tenant_id):
        actions.delete_expired(incident_id)
