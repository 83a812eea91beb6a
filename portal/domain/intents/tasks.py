"""Celery tasks of intents. Each gets IDs only; the intent's row decides whether anything is done."""

from portal.base.timers.celery_app import portal_task
from portal.domain.intents import sending, tracking
from portal.domain.intents.models import Intent
from tenants.scope import tenant_scope


@portal_task(queue="interactive", promise="idempotent", seconds=50)
def send(tenant_id: int, intent_id: int) -> None:
    with tenant_scope(tenant_id):
        for intent in Intent.objects.filter(pk=intent_id):
            sending.send(intent)


@portal_task(queue="interactive", promise="idempotent", seconds=50)
def poll(tenant_id: int, intent_id: int) -> None:
    with tenant_scope(tenant_id):
        for intent in Intent.objects.filter(pk=intent_id):
            tracking.poll(intent)


@portal_task(queue="interactive", promise="idempotent", seconds=280)
def reconcile(tenant_id: int, intent_id: int) -> None:
    with tenant_scope(tenant_id):
        for intent in Intent.objects.filter(pk=intent_id):
            tracking.reconcile(intent)
