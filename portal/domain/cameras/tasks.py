"""The tasks that load pictures, clips and statuses of cameras."""

from portal.base.timers.celery_app import portal_task
from portal.domain.cameras import clips, door_command_pictures, refreshing
from tenants.scope import tenant_scope


@portal_task(queue="sync", promise="idempotent", seconds=280)
def read_in_sight(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        refreshing.read_in_sight()


@portal_task(queue="sync", promise="idempotent", seconds=280)
def retry_clip(tenant_id: int, clip_id: int) -> None:
    with tenant_scope(tenant_id):
        clips.retry(clip_id)


@portal_task(queue="sync", promise="idempotent", seconds=60)
def read_command(tenant_id: int, moment_id: int) -> None:
    with tenant_scope(tenant_id):
        door_command_pictures.read_pictures(moment_id)
