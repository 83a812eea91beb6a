"""The bells of cameras in sight, and of clips that are still to come."""

from portal.core.cameras import clips, commands, watch
from portal.site.celery import promised
from tenants.scope import tenant_scope


@promised(queue="sync", promise="idempotent", seconds=280)
def read_in_sight(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        watch.read_in_sight()


@promised(queue="sync", promise="idempotent", seconds=280)
def ask_for_clip(tenant_id: int, clip_id: int) -> None:
    with tenant_scope(tenant_id):
        clips.ask_again(clip_id)


@promised(queue="sync", promise="idempotent", seconds=60)
def read_command(tenant_id: int, moment_id: int) -> None:
    with tenant_scope(tenant_id):
        commands.read(moment_id)
