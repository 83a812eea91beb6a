"""Apply the outcome of webhook requests: old values end when the new ones are confirmed, and return when refused."""

from datetime import timedelta
from typing import Any

from portal.base.timers.clock import database_now
from portal.base.ui.times import local
from portal.domain.budget.priorities import Priority
from portal.domain.intents import absence_proofs
from portal.domain.intents.handlers import Finding
from portal.domain.intents.models import Intent
from portal.domain.intents.states import NOT_APPLIED, State
from portal.domain.mirror import single_reads, small_lists, sync_schedule
from portal.domain.mirror.kinds import MirrorKind
from portal.webhooks import health
from portal.webhooks.actions import CHANGED_COLUMNS
from portal.webhooks.models import Webhook
from portal.webhooks.settings import categories_of
from portal.webhooks.tokens import digest_token
from tenants.connections.service_clients import current_connection

# How long notifications with the former signature may still be on their way.
FORMER_ACCEPTED_FOR = timedelta(minutes=10)


def apply_outcome(intent: Intent) -> None:
    """Confirm the new values, or restore the old ones. While the outcome is uncertain, both are accepted."""
    row = Webhook.objects.select_for_update().get()
    now = database_now()
    if intent.state == State.SUCCEEDED:
        row.set_at = now
        if row.former_until is None and (row.former_secret or row.former_digest):
            row.former_until = now + FORMER_ACCEPTED_FOR
        small_lists.save_webhook_settings(intent.body, now)
    elif intent.state in NOT_APPLIED:
        _restore_values(row, intent.snapshot)
    row.save(update_fields=CHANGED_COLUMNS)
    health.request_check(intent.tenant)
    # Read the service's own settings, which may be different.
    sync_schedule.request_reading(intent.tenant, MirrorKind.TENANT, by=intent.by)


def _restore_values(row: Webhook, was: dict[str, Any]) -> None:
    for name, value in was.items():
        setattr(row, name, value)
    row.token_digest = digest_token(row.token)
    row.former_digest = row.former_secret = row.former_until = None


def reconcile(intent: Intent) -> Finding:
    """Check whether the service has the requested values. A secret that it does not show proves nothing."""
    at = database_now()
    told = single_reads.read_tenant(current_connection(), Priority.PEOPLE, is_unshared=True).settings.webhook
    wanted, was = intent.body, intent.snapshot or {}
    seen: dict[str, Any] = {"read": f"{local(at):%Y-%m-%d %H:%M:%S}"}
    if (told.is_invalid, told.url, _categories_in(told)) != (
        wanted["is_invalid"],
        wanted["url"],
        _categories_in(wanted),
    ):
        return absence_proofs.judge_absence(intent, at, seen)
    if told.secret_token == wanted["secret_token"]:
        return Finding(True, seen)
    if told.secret_token == was.get("secret"):
        return absence_proofs.judge_absence(intent, at, seen)
    return Finding(None if was.get("secret") != wanted["secret_token"] else True, seen)


def _categories_in(settings: Any) -> set[str]:
    return set(categories_of(settings if isinstance(settings, dict) else settings.model_dump()))
