"""Changes to a connection that people make from its page."""

from __future__ import annotations

from enum import StrEnum

from django.db import transaction

from accessapi.errors import NotSent, OutcomeUnknown, Rejected
from tenants import audit
from tenants.access import Access
from tenants.connections import call_results
from tenants.connections.locks import exclusive
from tenants.connections.reissue import NotConnected
from tenants.connections.service_clients import oauth_of
from tenants.models import Connection
from tenants.roles import Permission
from tenants.sentences import coded_sentence


class RevocationOutcome(StrEnum):
    """How the service answered a revocation."""

    DONE = "done"
    REFUSED = "refused"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"


_OUTCOME_CODES = {
    RevocationOutcome.DONE: "outcome.succeeded",
    RevocationOutcome.REFUSED: "outcome.failed",
    RevocationOutcome.NOT_SENT: "outcome.cancelled",
    RevocationOutcome.UNKNOWN: "outcome.uncertain",
}


def connection_of(access: Access) -> Connection:
    """Return the tenant's connection, created on first use."""
    row, _ = Connection.objects.select_related("tenant__environment", "granted_by").get_or_create(tenant=access.tenant)
    return row


def revoke(*, access: Access) -> RevocationOutcome:
    """Revoke the token at the service, then delete it here. Not to be called inside a transaction. Raises NotConnected.

    Revoking twice does no harm. After a lost answer the token is kept, so that the person can revoke again.
    """
    access.check(Permission.CONNECTION_MANAGE)
    connection = connection_of(access)
    with exclusive(connection):
        row = Connection.objects.get(pk=connection.pk)
        tokens = [token for token in (row.previous_token, row.access_token) if token is not None]
        if not tokens:
            raise NotConnected
        outcome = _revoke_each(access, tokens)
        with transaction.atomic(durable=True):
            row = Connection.objects.select_for_update().get(pk=connection.pk)
            if outcome is RevocationOutcome.DONE:
                row.access_token = row.previous_token = None
                call_results.set_state(row, Connection.State.REVOKED)
                row.save()
            audit.record(
                **access.audit_author,
                action="connection.revoke",
                target="connection",
                summary=coded_sentence("connection.revoke", outcome=coded_sentence(_OUTCOME_CODES[outcome])),
            )
    return outcome


def _revoke_each(access: Access, tokens: list[str]) -> RevocationOutcome:
    for token in tokens:
        try:
            oauth_of(access.tenant.environment).revoke(token)
        except Rejected as refusal:
            if refusal.status != 404 and refusal.code != "not_found":  # already unknown to the service: done
                return RevocationOutcome.REFUSED
        except NotSent:
            return RevocationOutcome.NOT_SENT
        except OutcomeUnknown:
            return RevocationOutcome.UNKNOWN
    return RevocationOutcome.DONE


def set_licence_key(*, access: Access, value: str | None) -> None:
    """Store, replace or (None) remove the licence key for remote operation."""
    access.check(Permission.CONNECTION_MANAGE)
    connection = connection_of(access)
    with transaction.atomic():
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        row.licence_key = value
        row.save(update_fields=["licence_key"])
        done = "removed" if value is None else "stored"
        audit.record(
            **access.audit_author,
            action="connection.licence_key",
            target="connection",
            summary=coded_sentence(f"connection.licence_key_{done}"),
        )
