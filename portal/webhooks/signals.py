"""Register the webhook's panels, its alert, and what follows its requests and notifications.

After a request, old values end when the new ones are confirmed, and return when they are refused.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _

from accessapi.resources import write_moment
from portal.base.timers import rounds
from portal.base.timers.clock import database_now
from portal.base.ui import batching, panels
from portal.domain import events
from portal.domain.alerts import kinds
from portal.domain.alerts.kinds import AlertKind, Observation, RuleValues, tenants_having
from portal.domain.alerts.models import Severity
from portal.domain.events import MirrorKind
from portal.domain.intents import handlers
from portal.domain.intents.handlers import Finding
from portal.domain.intents.models import NOT_APPLIED, Intent, State
from portal.domain.sync import schedule, single_reads, small_lists
from portal.webhooks import health, panel, processing
from portal.webhooks.actions import CHANGED_COLUMNS, OPERATION, TARGET
from portal.webhooks.models import Webhook, digest_token
from portal.webhooks.service_settings import categories_of
from tenants.audit_log import changes
from tenants.connections.service_clients import current_connection
from tenants.models import Tenant
from tenants.sentences import register_sentences, register_subject

register_subject("webhooks", _("Webhook"), "webhook update_webhook")
register_sentences(
    {
        "webhook.on": _("Switch on the webhook"),
        "webhook.off": _("Switch off the webhook"),
        "webhook.categories": _("Change the webhook categories"),
        "webhook.secret": _("Renew the webhook secret"),
        "webhook.address": _("Renew the webhook address"),
        "alert_kind.silence": _("Webhook notifications stopped"),
        "webhook.leave": _("Webhook switched off in the portal alone"),
        "webhook.test": _("Test of the webhook started"),
        "webhook.reveal": _("Webhook address shown"),
        "connection.webhook_secret_stored": _("Webhook secret stored"),
        "connection.webhook_secret_removed": _("Webhook secret removed"),
    }
)


def _find_silent_webhook(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    for row in Webhook.objects.filter(working=Webhook.Working.SILENT):
        yield Observation("webhook", row.working_at or database_now())


SILENCE_ALERT = AlertKind(
    name="silence",
    message=_("No notifications come from the service, though some were to be expected."),
    severity=Severity.INFO,
    find_current=_find_silent_webhook,
    tenants_to_check=tenants_having(lambda _rules: Webhook.reachable_objects.filter(working=Webhook.Working.SILENT)),
)


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
    schedule.request_reading(intent.tenant, MirrorKind.TENANT, by=intent.by)


def _restore_values(row: Webhook, previous: dict[str, Any]) -> None:
    for name, value in previous.items():
        setattr(row, name, value)
    row.token_digest = digest_token(row.token)
    row.former_digest = row.former_secret = row.former_until = None


def reconcile(intent: Intent) -> Finding:
    """Check whether the service has the requested values. A secret that it does not show proves nothing."""
    at = database_now()
    current = single_reads.read_tenant(current_connection()).settings.webhook
    requested, previous = intent.body, intent.snapshot or {}
    evidence: dict[str, Any] = {"read": write_moment(at)}
    if (current.is_invalid, current.url, _categories_in(current)) != (
        requested["is_invalid"],
        requested["url"],
        _categories_in(requested),
    ):
        return handlers.check_absence(intent, at, evidence)
    if current.secret_token == requested["secret_token"]:
        return Finding(True, evidence)
    if current.secret_token == previous.get("secret"):
        return handlers.check_absence(intent, at, evidence)
    return Finding(None if previous.get("secret") != requested["secret_token"] else True, evidence)


def _categories_in(settings: Any) -> set[str]:
    return set(categories_of(settings if isinstance(settings, dict) else settings.model_dump()))


kinds.register(SILENCE_ALERT)
handlers.register(OPERATION, on_finished=apply_outcome, reconcile=reconcile)
panels.register("connection", panel.draw_panel)
panels.register("connection_developer", panel.draw_credentials)
panels.register("log", panel.draw_on_log_page, query=panel.BATCH_NAME)
batching.register_query(panel.BATCH_NAME, lambda: Webhook.objects.values_list("is_on", "working"), on_every_page=False)
changes.register_words(TARGET, panel.audit_words)
changes.register_labels(TARGET, panel.audit_label)
events.subscribe(MirrorKind.HISTORIES, processing.on_histories)
processing.MESSAGES.register()
rounds.register("old_notifications", rounds.delete_steps(processing.old_notifications), every=3600.0, queue="sync")
