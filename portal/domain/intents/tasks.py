"""Celery tasks of intents, and the sweep that finds due intents of which no worker was notified.

Tasks get IDs only; the intent's row decides whether anything is done. The sweep polls PostgreSQL four times a second.
"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from accessapi import errors
from accessapi.operations import SPECIFIED_OPERATIONS, Delivery
from portal.base.timers import celery_app
from portal.base.timers.celery_app import tenant_task
from portal.base.timers.clock import ClockTime
from portal.base.timers.timer_registry import DueRows
from portal.domain.intents import sending, tracking, transitions
from portal.domain.intents.models import (
    CLAIM_SECONDS,
    LOST_CLAIM_SECONDS,
    LOST_REPEATABLE_CLAIM_SECONDS,
    Intent,
    Reason,
    State,
)
from portal.domain.intents.tracking import is_due
from portal.domain.intents.transitions import Transition
from tenants.postgresql import session_locks
from tenants.scope import across_tenants, tenant_scope


@tenant_task(queue="interactive", seconds=50)
def send(intent_id: int) -> None:
    for intent in Intent.objects.filter(pk=intent_id):
        sending.send(intent)


@tenant_task(queue="interactive", seconds=50)
def poll(intent_id: int) -> None:
    for intent in Intent.objects.filter(pk=intent_id):
        tracking.poll(intent)


@tenant_task(queue="interactive", seconds=280)
def reconcile(intent_id: int) -> None:
    for intent in Intent.objects.filter(pk=intent_id):
        tracking.reconcile(intent)


CHECK_SECONDS = 0.25
ENQUEUE_AGAIN_SECONDS = 5
_BATCH = 500
_TASKS = "portal.domain.intents.tasks."
_TASK_BY_STATE = {State.QUEUED: "send", State.ACCEPTED: "poll", State.UNCERTAIN: "reconcile"}


def process_due() -> None:
    """Expire late intents, settle intents of ended processes, and notify workers of due intents."""
    with across_tenants("the sweeper looks for due work of every tenant"):
        late = list(_late()[:_BATCH])
        abandoned = list(_abandoned()[:_BATCH])
    for intent in late:
        with tenant_scope(intent.tenant):
            transitions.settle_unsent(intent, State.EXPIRED, Reason(intent.reason or Reason.TOO_LATE))
    for intent in abandoned:
        with tenant_scope(intent.tenant):
            settle_abandoned(intent)
    for intent in _DUE.claim_batch():
        enqueue(intent)


def rows_to_process() -> list[QuerySet[Intent]]:
    """Return the queries that start a sweep when one of them has a row. Call it inside `across_tenants`."""
    return [_late(), _abandoned(), _due_to_enqueue()]


def lagging_rows() -> list[QuerySet[Intent]]:
    """Return all due rows, whether a worker was notified or not."""
    return [_late().order_by("deadline"), _waiting().filter(due_at__lte=ClockTime()).order_by("due_at")]


def settle_abandoned(intent: Intent) -> None:
    """Settle a claim whose process has ended.

    The request may have been sent, so it is sent again only if it may be repeated.
    """
    verdict = transitions.from_error(
        errors.ConnectionLost("the sending process ended"),
        delivery=Delivery(intent.delivery),
        attempts=intent.attempts,
        deletes=SPECIFIED_OPERATIONS[intent.operation].is_deletion,
    )
    # The claim has already waited long enough: retry at once.
    verdict = Transition(verdict.state, Reason.PROCESS, again_in=None if verdict.again_in is None else 0.0)
    transitions.apply_transition({"pk": intent.pk, "state": State.SENDING, "claim": intent.claim}, verdict)


def mark_restored(found_at: datetime) -> int:
    """Mark intents that were not sent yet as uncertain: they may have been sent after the backup.

    Intents that the service accepted are polled as before. Readings settle the others where they can.
    """
    open_ones = Intent.objects.filter(state__in=[State.QUEUED, State.SENDING]).order_by("pk")
    verdict = Transition(State.UNCERTAIN, Reason.RESTORED)
    return sum(
        transitions.apply_transition(dict(each), verdict) for each in list(open_ones.values("pk", "state", "claim"))
    )


def enqueue(intent: Intent) -> None:
    """Notify a worker once. An unreachable broker is no error: the next sweep notifies again."""
    celery_app.enqueue(
        _TASKS + _TASK_BY_STATE[State(intent.state)], [(intent.tenant_id, intent.pk)], queue=intent.queue
    )


def _late() -> QuerySet[Intent]:
    late = Intent.objects_across_tenants.filter(state=State.QUEUED, deadline__lte=ClockTime())
    return late.select_related("tenant__environment")


def _abandoned() -> QuerySet[Intent]:
    """Return claims that can no longer be recorded, and claims whose process has ended: see decision 0043.

    The second are returned earlier.
    """
    once = Q(delivery__in=[Delivery.PHYSICAL, Delivery.CREATE])
    # Sending an image may take longer than any of these limits.
    silent = _older(LOST_CLAIM_SECONDS) & once | _older(LOST_REPEATABLE_CLAIM_SECONDS) & ~once & ~Q(
        operation__in=transitions.IMAGE_OPERATIONS
    )
    ended = silent & session_locks.session_ended("claim", since="claimed_at")
    abandoned = Intent.objects_across_tenants.filter(_older(CLAIM_SECONDS) | ended, state=State.SENDING)
    return abandoned.select_related("tenant__environment")


def _older(seconds: float) -> Q:
    return Q(claimed_at__lte=ClockTime() - timedelta(seconds=seconds))


def _due_to_enqueue() -> QuerySet[Intent]:
    not_woken = Q(woken_at__isnull=True) | Q(woken_at__lte=ClockTime() - timedelta(seconds=ENQUEUE_AGAIN_SECONDS))
    return _waiting().filter(not_woken, is_due())


def _waiting() -> QuerySet[Intent]:
    return Intent.objects_across_tenants.filter(
        due_at__isnull=False, state__in=[state.value for state in _TASK_BY_STATE]
    )


# A process that settles one intent and makes the next one due locks two rows. A fixed order prevents a deadlock.
_DUE = DueRows(
    rows=_due_to_enqueue,
    claim_values=lambda: {"woken_at": ClockTime()},
    columns=("state", "queue"),
    order=("priority", "due_at"),
    batch_size=_BATCH,
)
