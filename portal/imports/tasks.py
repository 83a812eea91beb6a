"""The bells of imports. Each carries ids; the row it names decides whether anything is done."""

from portal.celery import promised
from portal.imports import advancing, bell, checking
from tenants.scope import tenant_scope


@promised(queue="bulk", promise="idempotent", seconds=280)
def check(tenant_id: int, import_id: int) -> None:
    with tenant_scope(tenant_id):
        checking.check(import_id)


@promised(queue="bulk", promise="idempotent", seconds=120)
def advance(tenant_id: int, import_id: int) -> None:
    with tenant_scope(tenant_id):
        advancing.advance(import_id)


@promised(queue="bulk", promise="tick", seconds=30)
def tick() -> None:
    bell.tick()
