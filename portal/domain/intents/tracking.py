"""Find the outcome of a sent request: poll accepted ones, and resolve uncertain ones by reading or by a person.

One process at a time polls for an intent, with growing pauses, within the API limit and without a browser. If this
process ends, its database session ends too, and another process continues at once.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from accessapi import errors
from accessapi.operations import OPERATIONS, Delivery, RequestType
from accessapi.overrides import RequestOutcome, States
from accessapi.resources import RequestRecord
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.budget.client import client
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.intents import handlers, transitions
from portal.domain.intents.models import CLAIM_SECONDS, Intent, Reason, State
from portal.domain.intents.recording import Requester
from portal.domain.intents.transitions import BULK_OPERATIONS, Transition, next_poll_delay
from tenants import audit
from tenants.connections.service_clients import current_connection
from tenants.postgresql import session_locks
from tenants.sentences import coded_sentence


def is_due() -> Q:
    """Return the condition for due rows, and for rows whose polling process has ended. Polling twice is harmless."""
    ended = session_locks.session_ended("claim", since="claimed_at")
    return Q(due_at__lte=ClockTime()) | Q(claim__isnull=False) & ended


@contextmanager
def lease(intent: Intent, state: State, **changes: Any) -> Iterator[bool]:
    """Keep other processes from polling this intent during the block, and reload its row.

    Yields False when it is not due, or another process has it.
    """
    token = uuid.uuid4()
    with transaction.atomic():
        taken = Intent.objects.filter(is_due(), pk=intent.pk, state=state).update(
            due_at=ClockTime() + timedelta(seconds=CLAIM_SECONDS), claim=token, claimed_at=ClockTime(), **changes
        )
        if taken:
            intent.refresh_from_db(from_queryset=Intent.objects.annotate(held=session_locks.TakeLock(token)))
    if not taken:
        yield False
        return
    try:
        yield True
    finally:
        Intent.objects.filter(pk=intent.pk, claim=token).update(claim=None)
        session_locks.release(token)


_TYPES = {operation.name: operation.request_type for operation in OPERATIONS if operation.request_type is not None}
GIVE_UP_SECONDS = {RequestType.DEVICE: 60, RequestType.FACE: 900, RequestType.MEMBERS_BULK: 24 * 3600}


def poll(intent: Intent) -> None:
    """Read the result of an accepted intent that is due, once, and record it."""
    with lease(intent, State.ACCEPTED, polls=F("polls") + 1) as is_mine:
        if is_mine:
            _poll_once(intent)


def _poll_once(intent: Intent) -> None:
    if intent.operation in BULK_OPERATIONS and _waits_behind_another(intent):
        transitions.reschedule(intent, due_in=15)
        return
    connection = current_connection()
    try:
        with client(connection, Priority(intent.priority)) as service:
            answer = service.call("request_result", path={"request_id": intent.request_id})
    except BudgetExhausted as exhausted:
        Intent.objects.filter(pk=intent.pk, state=State.ACCEPTED).update(due_at=exhausted.check_again_at)
    except errors.NotFound as error:
        _settle(intent, Transition(State.UNCERTAIN, Reason.UNFOLLOWED, code=error.code, detail=error.detail))
    except errors.ServiceError:
        _schedule_next_poll(intent)
    else:
        _apply_record(intent, answer.value, connection.tenant.environment.catalogue.states)


def _waits_behind_another(intent: Intent) -> bool:
    """Return whether an earlier bulk request is unfinished.

    The service works through bulk requests in order, so polling a later one would waste an API call.
    """
    return Intent.objects.filter(operation__in=BULK_OPERATIONS, state=State.ACCEPTED, pk__lt=intent.pk).exists()


def _apply_record(intent: Intent, record: RequestRecord, states: States) -> None:
    status = str(record.status or "")
    ended = _final_state(intent.operation, status, states)
    Intent.objects.filter(pk=intent.pk).update(request_status=status[:100], result={**intent.result, **_counts(record)})
    handler = handlers.handler_of(intent.operation)
    if handler.on_progress is not None:
        handler.on_progress(intent, record)
    if ended is None:
        _schedule_next_poll(intent, record)
    else:
        reason = Reason.NONE if ended == State.SUCCEEDED else Reason.REQUEST_FAILED
        _settle(intent, Transition(ended, reason, detail="" if ended == State.SUCCEEDED else status))


def _final_state(operation: str, status: str, states: States) -> State | None:
    """Return the final state for a request's status, or None while it goes on. Unknown statuses count as going on."""
    meaning = states.outcome_of(_TYPES[operation], status)
    if not meaning.is_final:
        return None
    return State.FAILED if meaning == RequestOutcome.FAILED else State.SUCCEEDED


def _counts(record: RequestRecord) -> dict[str, Any]:
    result = record.result
    if result is None:
        return {}
    return {"member_count": result.member_count, "completed_member_count": result.completed_member_count}


def _settle(intent: Intent, verdict: Transition) -> None:
    transitions.apply_transition({"pk": intent.pk, "state": State.ACCEPTED}, verdict)
    if intent.operation in BULK_OPERATIONS:  # the service starts the next bulk request now
        next_one = Intent.objects.filter(
            operation__in=BULK_OPERATIONS, state=State.ACCEPTED, pk__gt=intent.pk
        ).order_by("pk")
        Intent.objects.filter(pk__in=next_one.values("pk")[:1]).update(due_at=ClockTime())


def _schedule_next_poll(intent: Intent, record: RequestRecord | None = None) -> None:
    limit = GIVE_UP_SECONDS[_TYPES[intent.operation]]
    if intent.accepted_at and database_now() - intent.accepted_at > timedelta(seconds=limit):
        _settle(intent, Transition(State.UNCERTAIN, Reason.UNFOLLOWED))
        return
    Intent.objects.filter(pk=intent.pk, state=State.ACCEPTED).update(
        due_at=ClockTime() + timedelta(seconds=next_poll_delay(intent, record)), woken_at=None
    )


_PAUSE_AFTER_TROUBLE = 30.0
# If no reading ever succeeds, a person may decide after this time.
_RECONCILE_FIRST = timedelta(minutes=10)


def reconcile(intent: Intent) -> None:
    """Read from the service as the area's handler does, and record the finding."""
    look = handlers.handler_of(intent.operation).reconcile
    with lease(intent, State.UNCERTAIN) as is_mine:
        if is_mine and look is not None:
            _reconcile_once(intent, look)


def _reconcile_once(intent: Intent, look: Callable[[Intent], handlers.Finding]) -> None:
    try:
        finding = look(intent)
    except BudgetExhausted as exhausted:
        Intent.objects.filter(pk=intent.pk, state=State.UNCERTAIN).update(
            due_at=exhausted.check_again_at, woken_at=None
        )
    except errors.ServiceError:
        transitions.reschedule(intent, due_in=_PAUSE_AFTER_TROUBLE)
    else:
        _apply_finding(intent, finding)


def is_reconciling(intent: Intent) -> bool:
    """Return whether readings may still find what became of this creation.

    Until then no one may decide that it was not applied: it would be requested again, and exist twice.
    """
    if intent.delivery != Delivery.CREATE or intent.state != State.UNCERTAIN or intent.due_at is None:
        return False
    recent = intent.sent_at is None or intent.sent_at > database_now() - _RECONCILE_FIRST
    return recent and handlers.handler_of(intent.operation).reconcile is not None


def _apply_finding(intent: Intent, finding: handlers.Finding) -> None:
    evidence = {"evidence": finding.evidence}
    if finding.applied is None:
        Intent.objects.filter(pk=intent.pk, state=State.UNCERTAIN).update(
            due_at=finding.retry_at, woken_at=None, result={**intent.result, **evidence}
        )
        return
    state, reason = (State.SUCCEEDED, intent.reason) if finding.applied else (State.FAILED, Reason.ABSENT)
    transitions.apply_transition(
        {"pk": intent.pk, "state": State.UNCERTAIN}, Transition(state, Reason(reason), result=evidence)
    )


def resolve(intent: Intent, *, applied: bool, by: Requester) -> bool:
    """Record a person's decision whether an uncertain intent was applied.

    Return False when it was no longer uncertain; nothing is written then.
    """
    with transaction.atomic():
        state = State.SUCCEEDED if applied else State.FAILED
        verdict = Transition(state, Reason.DECIDED, result={"decided_at": database_now().isoformat(timespec="seconds")})
        if not transitions.apply_transition({"pk": intent.pk, "state": State.UNCERTAIN}, verdict):
            return False
        Intent.objects.filter(pk=intent.pk).update(resolved_by=by.user)
        audit.record(
            **by.audit_author,
            action="intent.resolved",
            target=intent.target,
            summary=coded_sentence("intent.applied" if applied else "intent.not_applied", what=intent.summary),
            after={"applied": applied},
            intent_id=str(intent.pk),
        )
        return True
