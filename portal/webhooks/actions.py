"""Actions of staff on the webhook: switch on or off, change categories, renew secret or address.

Each is one request of operation 2 with all values that the portal wants. So a repeated request does no harm, also with
a service that deletes a secret that is not named.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui.value_words import join_sentences
from portal.domain.intents.actions import dispatch
from portal.domain.intents.models import Intent
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.queries import open_intents
from portal.domain.intents.recording import Command, Requester, record_intent
from portal.domain.places.models import TenantRecord
from portal.domain.sync import single_reads
from portal.webhooks import health
from portal.webhooks.models import Webhook, create_token, digest_token
from portal.webhooks.receiving import FRESH_SECONDS, WAIT_SECONDS
from portal.webhooks.service_settings import AddressOwner, ServiceSettings, address_of, webhook_of
from tenants import audit, owners
from tenants.roles import Permission
from tenants.sentences import coded_sentence

OPERATION = "update_webhook"
TARGET = "connection"
# The columns that a request or its outcome changes.
CHANGED_COLUMNS = ("is_on", "categories", "token", "token_digest", "former_digest", "secret", "former_secret",
"former_until",
       "set_at")  # fmt: skip
# After this time every process knows a new secret (`receiving.py`).
_KNOWN_EVERYWHERE = timedelta(seconds=FRESH_SECONDS + WAIT_SECONDS + 0.9)


class WebhookChange(StrEnum):
    """A change of the webhook; also the last part of its URL."""

    ON = "on"
    OFF = "off"
    CATEGORIES = "categories"
    SECRET = "secret"  # noqa: S105 - a name
    ADDRESS = "address"


def submit_change(
    *, change: WebhookChange, by: Requester, nonce: Nonce, categories: Sequence[str] = (), replace: str = ""
) -> Intent:
    """Request a change (operation 2), with `categories` if it is about them.

    New values are accepted here from now on, old values until the outcome is known (`signals.py`). Raises NotSubmitted
    while an earlier request is open, or if the service's settings cannot be read. It is also raised if they name
    another system's address, unless `replace` is that address's digest.
    """
    before = Intent.objects.filter(nonce=nonce.value).first()
    if before is not None:
        return before
    _check_address(by, replace)
    with transaction.atomic():
        row = Webhook.objects.select_for_update().get(pk=webhook_of(by.tenant).pk)
        previous = snapshot_of(row)
        _CHANGES[change](row, categories)
        intent, is_new = _record_intent(change, row, previous, by, nonce)
        if is_new:
            _check_none_open(intent)
            row.save(update_fields=CHANGED_COLUMNS)
            health.request_check(by.tenant)
            _delay_until_known(intent, change)
            if previous["is_on"] and (not row.is_on or set(previous["categories"]) - set(row.categories)):
                owners.notify(owners.LOOSENED, what=coded_sentence(f"webhook.{change}"), who=by.user)
    if is_new:
        dispatch(intent)
    return intent


def _check_address(by: Requester, replace: str) -> None:
    """Load the service's settings, and refuse to replace another system's address that the person has not seen."""
    present = load_service_settings()
    if present.address_owner(webhook_of(by.tenant)) is AddressOwner.OTHERS and replace != address_digest(present):
        raise NotSubmitted(
            _("The service notifies another system at the moment. Look at its address below and confirm first.")
        )


def load_service_settings() -> ServiceSettings:
    """Return the service's present settings. Raises NotSubmitted."""
    try:
        single_reads.read_for_page(single_reads.read_tenant, "")
    except single_reads.ReadFailed as why:
        raise NotSubmitted(join_sentences([why, _("Nothing was sent.")])) from None
    return ServiceSettings.of(TenantRecord.objects.get())


def address_digest(present: ServiceSettings) -> str:
    """Return the digest by which a form names the address that the person was shown."""
    return digest_token(present.url).hex()[:16]


def _switch_on(row: Webhook, categories: Sequence[str]) -> None:
    row.is_on, row.categories, row.secret = True, list(categories), row.secret or create_token()


def _switch_off(row: Webhook, categories: Sequence[str]) -> None:
    row.is_on = False


def _set_categories(row: Webhook, categories: Sequence[str]) -> None:
    row.categories = list(categories)


def _forget_expired(row: Webhook) -> None:
    """Delete former values that have expired: a new request would make them valid again until its outcome."""
    if row.former_until is not None and row.former_until <= database_now():
        row.former_secret = row.former_digest = None


def _renew_secret(row: Webhook, categories: Sequence[str]) -> None:
    _forget_expired(row)
    row.former_secret, row.former_until, row.secret = row.secret, None, create_token()


def _renew_address(row: Webhook, categories: Sequence[str]) -> None:
    _forget_expired(row)
    row.former_digest, row.former_until, row.token = row.token_digest, None, create_token()
    row.token_digest = digest_token(row.token)


_CHANGES: Mapping[WebhookChange, Callable[[Webhook, Sequence[str]], None]] = {
    WebhookChange.ON: _switch_on,
    WebhookChange.OFF: _switch_off,
    WebhookChange.CATEGORIES: _set_categories,
    WebhookChange.SECRET: _renew_secret,
    WebhookChange.ADDRESS: _renew_address,
}


def snapshot_of(row: Webhook) -> dict[str, Any]:
    """Return the values that a request may change, to be restored if it fails."""
    return {"is_on": row.is_on, "categories": list(row.categories), "token": row.token, "secret": row.secret}


def _record_intent(
    change: WebhookChange, row: Webhook, previous: dict[str, Any], by: Requester, nonce: Nonce
) -> tuple[Intent, bool]:
    return record_intent(
        Command(
            permission=Permission.CONNECTION_MANAGE,
            operation=OPERATION,
            target=TARGET,
            title=coded_sentence(f"webhook.{change}"),
            body={
                "is_invalid": not row.is_on,
                "url": address_of(row),
                "secret_token": row.secret,
                "trigger": {"history": {"category": list(row.categories)}},
            },
            snapshot=previous,
            before=_audit_values(previous["is_on"], previous["categories"]),
            after=_audit_values(row.is_on, row.categories),
        ),
        by=by,
        nonce=nonce,
    )


def _audit_values(is_on: bool, categories: Sequence[str]) -> dict[str, Any]:
    """Return the values for the audit log, without address and secret."""
    return {"webhook_on": is_on, "webhook_categories": list(categories)}


def _check_none_open(intent: Intent) -> None:
    """Refuse while an earlier request is open: only one former secret and one former address are stored."""
    if open_intents().filter(operation=OPERATION).exclude(pk=intent.pk).exists():
        raise NotSubmitted(
            _("An earlier change of the webhook is not finished. Nothing was sent. Try again when its result is known.")
        )


def _delay_until_known(intent: Intent, change: WebhookChange) -> None:
    """Delay the request with a new secret until every process accepts it: they reload secrets every few seconds."""
    if change is WebhookChange.SECRET:
        Intent.objects.filter(pk=intent.pk).update(due_at=ClockTime() + _KNOWN_EVERYWHERE)
        intent.refresh_from_db()


def switch_off_locally(*, by: Requester) -> None:
    """Switch off only here. The service's settings belong to another system and are not changed."""
    with transaction.atomic():
        Webhook.objects.filter(pk=webhook_of(by.tenant).pk).update(is_on=False)
        health.request_check(by.tenant)
        audit.record(**by.audit_author, action="webhook.leave", target=TARGET, summary=coded_sentence("webhook.leave"))
        owners.notify(owners.LOOSENED, what=coded_sentence("webhook.leave"), who=by.user)


def start_test(*, by: Requester) -> None:
    """Start a test: wait for a notification."""
    with transaction.atomic():
        Webhook.objects.filter(pk=webhook_of(by.tenant).pk).update(tested_at=database_now())
        audit.record(**by.audit_author, action="webhook.test", target=TARGET, summary=coded_sentence("webhook.test"))


def reveal_address(*, by: Requester) -> str:
    """Return the full address, for a person who may see it. Recorded in the audit log."""
    with transaction.atomic():
        audit.record(
            **by.audit_author, action="webhook.reveal", target=TARGET, summary=coded_sentence("webhook.reveal")
        )
    return address_of(webhook_of(by.tenant))
