"""Record the outcome of an intent: state, mirror, job rows and audit log change once, in one transaction."""

import time
import uuid
from collections.abc import Callable
from datetime import timedelta

import structlog
from django.db import InterfaceError, OperationalError, connection, transaction

from accessapi.operations import OPERATIONS, Body
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.intents import handlers
from portal.domain.intents.models import Enclosure, Intent
from portal.domain.intents.poll_intervals import first_poll_delay
from portal.domain.intents.recording import audit_actor
from portal.domain.intents.states import FINAL, Reason, State
from portal.domain.intents.transitions import Transition
from tenants import audit

log = structlog.get_logger(__name__)

# Retry for some seconds when the database fails: losing a received answer would make a known outcome uncertain.
_PAUSES = (0.5, 1.0, 2.0, 4.0)
_RECONCILE_AFTER = 2.0
IMAGE_OPERATIONS = {operation.name for operation in OPERATIONS if operation.body is Body.IMAGE}


def record_sent(intent: Intent, claim: uuid.UUID, verdict: Transition) -> None:
    """Write the result of sending, if this process still holds the claim. Otherwise the sweep has settled it."""
    held = {"pk": intent.pk, "state": State.SENDING, "claim": claim}
    _write_with_retries(lambda: apply_transition(held, verdict))


def settle_unsent(intent: Intent, state: State, reason: Reason) -> None:
    """End an intent that was never sent: it is surely not applied."""
    apply_transition({"pk": intent.pk, "state": State.QUEUED}, Transition(state, reason))


def apply_transition(held: dict[str, object], verdict: Transition) -> bool:
    """Move the one row that matches `held` to the verdict's state.

    Return False when no row matches any more; nothing is written then.
    """
    with transaction.atomic():
        intent = Intent.objects.select_for_update(of=("self",)).filter(**held).first()
        if intent is None:
            return False
        _write(intent, verdict)
        _run_follow_ups(intent)
        if intent.operation in IMAGE_OPERATIONS and intent.state != State.QUEUED:
            Enclosure.objects.filter(intent=intent).delete()  # the image is not needed any more
        return True


def _write(intent: Intent, verdict: Transition) -> None:
    now = database_now()
    intent.state, intent.reason = verdict.state, verdict.reason
    intent.claim = None
    intent.rung_at = None
    intent.due_at = now + timedelta(seconds=verdict.again_in) if verdict.again_in is not None else None
    intent.http_status = verdict.http_status or intent.http_status
    intent.error_code, intent.error_detail = verdict.code, without_secrets(verdict.detail, intent.body)
    intent.request_id = verdict.request_id or intent.request_id
    intent.result = {**intent.result, **verdict.result}
    if verdict.state == State.ACCEPTED and intent.accepted_at is None:
        intent.accepted_at = now
        intent.due_at = now + timedelta(seconds=first_poll_delay(intent))
    if verdict.state in FINAL:
        intent.finished_at = now
    if verdict.state == State.UNCERTAIN and handlers.handler_of(intent.operation).reconcile:
        wait = _RECONCILE_AFTER if verdict.again_in is None else verdict.again_in
        intent.due_at = now + timedelta(seconds=wait)
    intent.save()


def _run_follow_ups(intent: Intent) -> None:
    """Call the area's `on_finished` and write the audit log. An error in a follow-up must not lose the outcome."""
    finished = handlers.handler_of(intent.operation).on_finished
    if intent.state not in FINAL:
        return
    if finished is not None:
        try:
            with transaction.atomic():
                finished(intent)
        except Exception:
            log.exception("intent_follow_up_failed", intent_id=intent.pk, operation=intent.operation)
            Intent.objects.filter(pk=intent.pk).update(result={**intent.result, "follow_up_failed": True})
    audit.record(
        tenant=intent.tenant,
        action=f"{intent.operation}.{intent.state}",
        target=intent.target,
        summary=intent.summary,
        after={"reason": intent.reason, "code": intent.error_code} if intent.reason else None,
        intent_id=str(intent.pk),
        **audit_actor(intent),
    )


def _write_with_retries(write: Callable[[], bool]) -> None:
    for pause in _PAUSES:
        try:
            write()
            return
        except (OperationalError, InterfaceError):
            if not connection.is_usable():  # keep a working session: it holds the lock that proves the claim is active
                connection.close()
            time.sleep(pause)
    write()


def reschedule(intent: Intent, *, due_in: float | None) -> None:
    """Make the intent due again in `due_in` seconds (None: never), without a change of state."""
    due_at = None if due_in is None else ClockTime() + timedelta(seconds=due_in)
    Intent.objects.filter(pk=intent.pk).update(due_at=due_at, rung_at=None)


# A "url" receives notifications: anyone who knows it can post to it.
_SECRET_KEYS = {"card_data", "data", "qrcode_data", "email", "totp_seed", "secret_token", "url"}


def without_secrets(text: str, body: object) -> str:
    """Return the service's message, with any secret of the request's body masked."""
    for secret in sorted(_secrets(body), key=len, reverse=True):
        text = text.replace(secret, "•••")
    return text


def _secrets(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {v for k, v in value.items() if k in _SECRET_KEYS and isinstance(v, str) and len(v) >= 4}
        return own.union(*(_secrets(v) for v in value.values()))
    if isinstance(value, list):
        return set().union(*(_secrets(v) for v in value))
    return set()
