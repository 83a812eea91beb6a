"""Reissue the access token: one call per attempt, and the connection always keeps a token that works.

Steps, each committed before the next: record the attempt; call the service once; store the new token beside the old
one; try the new token; delete the old one. If the process dies in between, the row shows the last step. A second caller
waits and gets the same outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.utils import timezone

from accessapi.errors import Forbidden, NotSent, OutcomeUnknown, Rejected, ServiceError, Unauthorised
from tenants import audit
from tenants.connections import call_results
from tenants.connections.locks import exclusive
from tenants.connections.service_clients import oauth_of, try_token
from tenants.models import Connection, SupportSession, User
from tenants.sentences import Sentence, coded_sentence

State = Connection.State


class ReissueOutcome(StrEnum):
    """The outcome of an attempt."""

    SENT = "sent"  # in progress, or the process that sent it died
    DONE = "done"  # the new token has worked
    UNPROVEN = "unproven"  # the new token is in use, the old one is kept until it has worked
    REFUSED = "refused"  # the service refused: the old token stays
    NOT_SENT = "not_sent"  # nothing reached the service: the old token stays
    ANSWER_LOST = "answer_lost"  # no answer came; the old token works, or its state is unknown
    NEW_TOKEN_REFUSED = "new_token_refused"  # the new one does not work: the old one is used  # noqa: S105
    BROKEN = "broken"  # no token works: connect again


@dataclass(frozen=True)
class ReissueResult:
    """An attempt's outcome, and whether another caller made the attempt."""

    outcome: ReissueOutcome
    is_joined: bool = False


class NotConnected(Exception):
    """There is no token to reissue or revoke."""


def reissue(*, connection: Connection, by: User | None, support_session: SupportSession | None = None) -> ReissueResult:
    """Reissue the token of `connection`, as the caller last saw it. Not to be called inside a transaction.

    If an attempt was made since the caller read the row, return its outcome instead. Raises NotConnected.
    """
    round_before = connection.reissue_round
    with exclusive(connection):
        old = _begin(connection, round_before, by, support_session)
        if old is None:
            row = Connection.objects.get(pk=connection.pk)
            return ReissueResult(ReissueOutcome(row.reissue_outcome), is_joined=True)
        return ReissueResult(_ask_once(connection, old, by, support_session))


def _begin(connection: Connection, round_before: int, by: User | None, session: SupportSession | None) -> str | None:
    with transaction.atomic(durable=True):
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        if row.reissue_round != round_before:
            return None
        if not row.is_connected or row.access_token is None:
            raise NotConnected
        row.reissue_round += 1
        row.reissue_sent_at = timezone.now()
        row.reissue_outcome = ReissueOutcome.SENT
        row.save(update_fields=["reissue_round", "reissue_sent_at", "reissue_outcome"])
        _record(row, by, session, coded_sentence("connection.reissue"))
        token: str = row.access_token
        return token


def _ask_once(connection: Connection, old: str, by: User | None, session: SupportSession | None) -> ReissueOutcome:
    environment = connection.tenant.environment
    try:
        new = oauth_of(environment).reissue(old)
    except NotSent:
        return _finish(connection, ReissueOutcome.NOT_SENT)
    except Rejected as refusal:
        gone = refusal.status in (401, 404) and refusal.code != "invalid_client"
        return _try_old_token(connection, old) if gone else _finish(connection, ReissueOutcome.REFUSED)
    except OutcomeUnknown:
        return _try_old_token(connection, old)
    _store(connection, old, new, by, session)
    return _try_new_token(connection, new)


def _store(connection: Connection, old: str, new: str, by: User | None, session: SupportSession | None) -> None:
    with transaction.atomic(durable=True):
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        row.access_token, row.previous_token = new, old if old != new else None
        row.token_generation += 1
        row.token_at = timezone.now()
        row.reissue_sent_at = None
        row.reissue_outcome = ReissueOutcome.UNPROVEN
        row.save()
        _record(row, by, session, coded_sentence("connection.reissued", number=row.token_generation))


def _try_new_token(connection: Connection, new: str) -> ReissueOutcome:
    """Try the new token. A refusal for a missing scope is a success too: the service knows the token."""
    try:
        answer = try_token(connection.tenant.environment, new)
    except Unauthorised:
        with transaction.atomic(durable=True):
            row = Connection.objects.select_for_update().get(pk=connection.pk)
            if row.previous_token is None:
                return ReissueOutcome(row.reissue_outcome)
            call_results.restore_previous_token(row)
        return ReissueOutcome.NEW_TOKEN_REFUSED
    except Forbidden:
        return _finish(connection, ReissueOutcome.DONE)
    except ServiceError:
        return ReissueOutcome.UNPROVEN
    if getattr(answer.value, "tenant_id", None) not in (None, connection.service_tenant_id):
        with transaction.atomic(durable=True):
            call_results.restore_previous_token(Connection.objects.select_for_update().get(pk=connection.pk))
        return ReissueOutcome.NEW_TOKEN_REFUSED
    return _finish(connection, ReissueOutcome.DONE)


def _try_old_token(connection: Connection, old: str) -> ReissueOutcome:
    """Try the old token if no new one came, and return the outcome."""
    try:
        try_token(connection.tenant.environment, old)
    except Unauthorised:
        return _finish(connection, ReissueOutcome.BROKEN)
    except ServiceError:
        pass
    return _finish(connection, ReissueOutcome.ANSWER_LOST)


def _finish(connection: Connection, outcome: ReissueOutcome) -> ReissueOutcome:
    with transaction.atomic(durable=True):
        row = Connection.objects.select_for_update().get(pk=connection.pk)
        row.reissue_sent_at = None
        row.reissue_outcome = outcome
        if outcome is ReissueOutcome.DONE:
            row.previous_token = None
        if outcome is ReissueOutcome.BROKEN:
            call_results.set_state(row, State.BROKEN, "reissue_lost")
        row.save()
    return outcome


def _record(row: Connection, by: User | None, session: SupportSession | None, summary: Sentence) -> None:
    audit.record(
        tenant=row.tenant,
        by=by,
        support_session=session,
        action="connection.reissue",
        target=f"connection:{row.pk}",
        summary=summary,
    )
