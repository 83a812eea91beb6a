"""What each answer of the service says about the connection itself."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from accessapi.operations import Operation
from tenants import audit
from tenants.connections.locks import is_locked
from tenants.models import Connection

State = Connection.State


def note(seen: Connection, operation: Operation, status: int) -> None:
    """Remember the call. `seen` is the connection as it was when the call took its token."""
    now = timezone.now()
    values: dict[str, Any] = {
        "last_call_at": now,
        "last_call_operation": operation.name,
        "last_call_status": status,
    }
    if 200 <= status <= 299:
        values["last_success_at"] = now
    Connection.objects.filter(pk=seen.pk).update(**values)
    if 200 <= status <= 299:
        _worked(seen, operation)
    elif status == 401:
        token_refused(seen)
    elif status == 403:
        _refused(seen, operation)


def token_refused(seen: Connection) -> None:
    """The service no longer knows the token that `seen` holds.

    After a reissue whose new token never worked the former token is taken up again; else the connection is broken and
    somebody must connect again. While a reissue is under way nothing is concluded: the old token may die in it.
    """
    with transaction.atomic():
        row = Connection.objects.select_for_update().get(pk=seen.pk)
        if row.token_generation != seen.token_generation or not row.is_connected:
            return
        if row.reissue_sent_at is not None and is_locked(row):
            return
        if row.previous_token is not None:
            keep_former_token(row)
            return
        set_state(row, State.BROKEN, "token_refused")
        row.reissue_sent_at = None
        row.save()
        audit.record(
            tenant=row.tenant,
            by=None,
            by_label="service",
            action="connection.lost",
            target=f"connection:{row.pk}",
            summary="The service no longer accepts the access token.",
        )


def keep_former_token(row: Connection) -> None:
    """Go back from a reissued token that does not work. The row is locked by the caller."""
    row.access_token, row.previous_token = row.previous_token, None
    row.token_generation += 1
    row.reissue_outcome = "new_token_refused"
    row.save()
    audit.record(
        tenant=row.tenant,
        by=None,
        by_label="service",
        action="connection.reissue",
        target=f"connection:{row.pk}",
        summary="The new token was refused; the former one is used again.",
    )


def set_state(row: Connection, state: Connection.State, reason: str = "") -> None:
    """Change the state of a locked row, without saving it."""
    row.state, row.state_reason, row.state_at = state, reason, timezone.now()


def _worked(seen: Connection, operation: Operation) -> None:
    if seen.previous_token is not None:
        proven = Connection.objects.filter(pk=seen.pk, token_generation=seen.token_generation)
        proven.update(previous_token=None, reissue_outcome="done")
    if operation.scope in seen.scopes_refused or operation.contract in seen.contracts_refused:
        _rewrite(seen, operation, refused=False)


def _refused(seen: Connection, operation: Operation) -> None:
    _rewrite(seen, operation, refused=True)


def _rewrite(seen: Connection, operation: Operation, *, refused: bool) -> None:
    """Add to or take from the lists of what was refused. A 403 names no reason: a contract or licence is likelier."""
    with transaction.atomic():
        row = Connection.objects.select_for_update().get(pk=seen.pk)
        scopes, contracts = set(row.scopes_refused), set(row.contracts_refused)
        gate = "licence" if operation.licence else operation.contract
        if not refused:
            scopes.discard(operation.scope)
            contracts.discard(gate)
        elif gate is not None:
            contracts.add(str(gate))
        elif operation.scope is not None:
            scopes.add(operation.scope)
        row.scopes_refused, row.contracts_refused = sorted(scopes), sorted(contracts)
        row.save(update_fields=["scopes_refused", "contracts_refused"])
