"""Following an accepted request to its outcome: one poller at a time, backing off, within budget, without a browser."""

from datetime import timedelta
from typing import Any

from django.db.models import F

from accessapi import errors
from accessapi.operations import STATED, RequestType
from accessapi.overrides import Outcome, States
from accessapi.resources import RequestRecord
from portal.core.budget.client import client
from portal.core.budget.ledger import BudgetExhausted
from portal.core.budget.priorities import Priority
from portal.core.intents import handlers, outcome
from portal.core.intents.leases import leased
from portal.core.intents.models import Intent
from portal.core.intents.pacing import BULK, next_look
from portal.core.intents.states import Reason, State
from portal.core.intents.verdicts import Verdict
from portal.core.timers.clock import ClockTime, database_now
from tenants.connections.service import current_connection

GIVE_UP_SECONDS = {RequestType.DEVICE: 60, RequestType.FACE: 900, RequestType.MEMBERS_BULK: 24 * 3600}


def poll(intent: Intent) -> None:
    """Read the result of an accepted intent that is due, once, and record what it says."""
    with leased(intent, State.ACCEPTED, polls=F("polls") + 1) as is_mine:
        if is_mine:
            _ask(intent)


def _ask(intent: Intent) -> None:
    if intent.operation in BULK and _waits_behind_another(intent):
        outcome.touch(intent, due_in=15)
        return
    connection = current_connection()
    try:
        with client(connection, Priority(intent.priority)) as service:
            answer = service.call("request_result", path={"request_id": intent.request_id})
    except BudgetExhausted as exhausted:
        Intent.objects.filter(pk=intent.pk, state=State.ACCEPTED).update(due_at=exhausted.ask_at)
    except errors.NotFound as error:
        _settle(intent, Verdict(State.UNCERTAIN, Reason.UNFOLLOWED, code=error.code, detail=error.detail))
    except errors.ServiceError:
        _again(intent)
    else:
        _read(intent, answer.value, connection.tenant.environment.catalogue.states)


def _waits_behind_another(intent: Intent) -> bool:
    """The service works through bulk requests in order: asking after a later one is a wasted call."""
    return Intent.objects.filter(operation__in=BULK, state=State.ACCEPTED, pk__lt=intent.pk).exists()


def _read(intent: Intent, record: RequestRecord, states: States) -> None:
    status = str(record.status or "")
    ended = _ended(intent.operation, status, states)
    Intent.objects.filter(pk=intent.pk).update(request_status=status[:100], result={**intent.result, **_counts(record)})
    handler = handlers.of(intent.operation)
    if handler.progress is not None:
        handler.progress(intent, record)
    if ended is None:
        _again(intent, record)
    else:
        reason = Reason.NONE if ended == State.SUCCEEDED else Reason.REQUEST_FAILED
        _settle(intent, Verdict(ended, reason, detail="" if ended == State.SUCCEEDED else status))


def _ended(operation: str, status: str, states: States) -> State | None:
    """The state that a request's status means, or None while it goes on. Unknown words go on, and are shown."""
    meaning = states.outcome(_request_type(operation), status)
    if not meaning.final:
        return None
    return State.FAILED if meaning == Outcome.FAILED else State.SUCCEEDED


def _request_type(operation: str) -> RequestType:
    return STATED[operation].followed or RequestType.MEMBERS_BULK


def _counts(record: RequestRecord) -> dict[str, Any]:
    result = record.result
    if result is None:
        return {}
    return {"member_count": result.member_count, "completed_member_count": result.completed_member_count}


def _settle(intent: Intent, verdict: Verdict) -> None:
    outcome.apply({"pk": intent.pk, "state": State.ACCEPTED}, verdict)
    if intent.operation in BULK:  # the next in line has had its turn at the service
        next_one = Intent.objects.filter(operation__in=BULK, state=State.ACCEPTED, pk__gt=intent.pk).order_by("pk")
        Intent.objects.filter(pk__in=next_one.values("pk")[:1]).update(due_at=ClockTime())


def _again(intent: Intent, record: RequestRecord | None = None) -> None:
    limit = GIVE_UP_SECONDS[_request_type(intent.operation)]
    if intent.accepted_at and database_now() - intent.accepted_at > timedelta(seconds=limit):
        _settle(intent, Verdict(State.UNCERTAIN, Reason.UNFOLLOWED))
        return
    Intent.objects.filter(pk=intent.pk, state=State.ACCEPTED).update(
        due_at=ClockTime() + timedelta(seconds=next_look(intent, record)), rung_at=None
    )
