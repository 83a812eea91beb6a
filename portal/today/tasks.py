"""The bells of erasing."""

from portal.site.celery import promised
from portal.today import erasing


@promised(queue="bulk", promise="idempotent", seconds=280)
def erase(tenant_id: int) -> None:
    erasing.run(tenant_id)


@promised(queue="bulk", promise="tick", seconds=60)
def tick() -> None:
    for tenant_id in erasing.tidy():
        erase.apply_async((tenant_id,), expires=600)
