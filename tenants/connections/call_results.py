"""Record the effect of each answer of the service on the connection."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from accessapi.errors import Rejected, ServiceError
from accessapi.operations import Delivery, Operation
from accessapi.overrides import ErrorCodes, RefusalCause
from tenants import audit
from tenants.connections.locks import is_busy
from tenants.models import Connection
from tenants.sentences import Sentence, coded_sentence

State = Connection.State
LICENCE = "licence"
_REFUSED_FIELDS = ["scopes_refused", "contracts_refused", "refusals"]
_MAX_TEXT = 300


def record(connection: Connection, operation: Operation, status: int, error: ServiceError | None = None) -> None:
    """Record the call. `connection` is the row as it was when the call took its token."""
    now = timezone.now()
    values: dict[str, Any] = {
        "last_call_at": now,
        "last_call_operation": operation.name,
        "last_call_status": status,
    }
    if 200 <= status <= 299:
        values["last_success_at"] = now
    Connection.objects.filter(pk=connection.pk).update(**values)
    if 200 <= status <= 299:
        _record_success(connection, operation)
    elif isinstance(error, Rejected):
        _record_refusal(connection, operation, error)


def record_refused_token(connection: Connection) -> None:
    """Record that the service no longer accepts the token of `connection`.

    After a reissue whose new token never worked, use the former token again. Otherwise the connection is broken and a
    person must reconnect. During a reissue nothing changes: the reissue may end the old token.
    """
    with transaction.atomic():
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        if row.token_generation != connection.token_generation or not row.is_connected:
            return
        if row.reissue_sent_at is not None and is_busy(row):
            return
        if row.previous_token is not None:
            restore_previous_token(row)
            return
        set_state(row, State.BROKEN, "token_refused")
        row.reissue_sent_at = None
        row.save()
        _record_change(row, "connection.lost", coded_sentence("connection.lost"))


def restore_previous_token(row: Connection) -> None:
    """Return to the former token if a reissued one does not work. The caller has locked the row."""
    row.access_token, row.previous_token = row.previous_token, None
    row.token_generation += 1
    row.reissue_outcome = "new_token_refused"
    row.save()
    _record_change(row, "connection.reissue", coded_sentence("connection.reissue_undone"))


def _record_change(row: Connection, action: str, summary: Sentence) -> None:
    """Record what an answer of the service changed."""
    target = f"connection:{row.pk}"
    audit.record(tenant=row.tenant, by=None, by_label="service", action=action, target=target, summary=summary)


def set_state(row: Connection, state: Connection.State, reason: str = "") -> None:
    """Change the state of a locked row, without saving it."""
    row.state, row.state_reason, row.state_at = state, reason, timezone.now()


def _record_success(connection: Connection, operation: Operation) -> None:
    if connection.previous_token is not None:
        proven = Connection.objects.filter(pk=connection.pk, token_generation=connection.token_generation)
        proven.update(previous_token=None, reissue_outcome="done")
    if (
        operation.scope in connection.scopes_refused
        or not _requirements(operation).isdisjoint(connection.contracts_refused)
        or any(each["operation"] == operation.name for each in connection.refusals)
    ):
        _clear_refusals(connection, operation)


def _requirements(operation: Operation) -> set[str]:
    """Return what an operation needs apart from its scope."""
    return {str(each) for each in (operation.contract, LICENCE if operation.needs_licence else None) if each}


def _clear_refusals(connection: Connection, operation: Operation) -> None:
    """Remove an operation's requirements from the refused ones, because it has worked."""
    with transaction.atomic():
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        row.scopes_refused = sorted(set(row.scopes_refused) - {operation.scope})
        row.contracts_refused = sorted(set(row.contracts_refused) - _requirements(operation))
        row.refusals = [each for each in row.refusals if each["operation"] != operation.name]
        row.save(update_fields=_REFUSED_FIELDS)


def _record_refusal(connection: Connection, operation: Operation, error: Rejected) -> None:
    """Record what is missing according to a refusal, by its code (docs/operations.md).

    An unknown code is kept unchanged.
    """
    errors: ErrorCodes = connection.tenant.environment.catalogue.errors
    meaning = errors.meaning(error.code)
    if meaning is None:
        if error.status == 401:
            record_refused_token(connection)
        elif error.status == 403:
            _save_refusal(connection, operation, error)
    elif meaning.cause is RefusalCause.SCOPE and operation.scope is not None:
        _add_refused(connection, scope=operation.scope)
    elif meaning.cause is RefusalCause.LICENCE:
        _add_refused(connection, gate=LICENCE)
    elif meaning.cause is RefusalCause.CONTRACT:
        contract = errors.contract_of(error.code, error.detail, operation)
        if contract is None:
            _save_refusal(connection, operation, error)
        else:
            _add_refused(connection, gate=contract)


def _add_refused(connection: Connection, *, scope: str = "", gate: str = "") -> None:
    if scope in connection.scopes_refused or gate in connection.contracts_refused:
        return
    with transaction.atomic():
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        row.scopes_refused = sorted({*row.scopes_refused, scope} - {""})
        row.contracts_refused = sorted({*row.contracts_refused, str(gate)} - {""})
        row.save(update_fields=_REFUSED_FIELDS)


def _save_refusal(connection: Connection, operation: Operation, error: Rejected) -> None:
    """Store a refusal unchanged, one per operation.

    A change's refusal text is not stored here, as it may repeat a secret. It is stored with the change only, where
    secrets are hidden.
    """
    text = error.detail[:_MAX_TEXT] if operation.delivery is Delivery.READ else ""
    refusal = {"operation": operation.name, "status": error.status, "code": error.code[:20], "words": text}
    if any(refusal == {key: each[key] for key in refusal} for each in connection.refusals):
        return
    with transaction.atomic():
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        others = [each for each in row.refusals if each["operation"] != operation.name]
        row.refusals = [{**refusal, "at": timezone.now().isoformat(timespec="seconds")}, *others]
        row.save(update_fields=_REFUSED_FIELDS)
