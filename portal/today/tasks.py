"""The task of erasing."""

from portal.site.celery import promised
from portal.today import erasing


@promised(queue="bulk", promise="idempotent", seconds=280)
def erase(tenant_id: int) -> None:
    erasing.run(tenant_id)
