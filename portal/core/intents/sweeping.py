"""Finding what the bell missed: all that is due stands in PostgreSQL, and this looks for it four times a second."""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from accessapi import errors
from accessapi.operations import STATED, Delivery
from portal.core.intents import outcome, verdicts
from portal.core.intents.following import is_due
from portal.core.intents.models import Intent
from portal.core.intents.states import CLAIM_SECONDS, REPEAT_SECONDS, SILENT_SECONDS, Reason, State
from portal.core.intents.verdicts import Verdict
from portal.core.restore import finding
from portal.core.timers import bell, ticking
from portal.core.timers.clock import ClockTime
from portal.core.timers.ticking import Due
from tenants import living
from tenants.scope import across_tenants, tenant_scope

SWEEP_SECONDS = 0.25
RING_AGAIN_SECONDS = 5
_BATCH = 500
_TASKS = "portal.core.intents.tasks."
_BELLS = {State.QUEUED: "send", State.ACCEPTED: "poll", State.UNCERTAIN: "reconcile"}


def sweep() -> None:
    """Expire what is too late, settle what a dead process left behind, ring for whatever is due."""
    with across_tenants("the sweeper looks for due work of every tenant"):
        late = list(_late()[:_BATCH])
        abandoned = list(_abandoned()[:_BATCH])
    for intent in late:
        with tenant_scope(intent.tenant):
            outcome.settle_unsent(intent, State.EXPIRED, Reason(intent.reason or Reason.TOO_LATE))
    for intent in abandoned:
        with tenant_scope(intent.tenant):
            settle_abandoned(intent)
    for intent in _DUE.take():
        ring(intent)


def work() -> list[QuerySet[Intent]]:
    """The rows of which one is enough for a sweep. Call inside `across_tenants`."""
    return [_late(), _abandoned(), _unrung()]


def _lag() -> list[QuerySet[Intent]]:
    """What is due, whether it was rung for or not."""
    return [_late().order_by("deadline"), _waiting().filter(due_at__lte=ClockTime()).order_by("due_at")]


def settle_abandoned(intent: Intent) -> None:
    """A claim whose process is gone: it may have been sent, so that only what may be repeated is sent again."""
    verdict = verdicts.of_error(
        errors.ConnectionLost("the sending process ended"),
        delivery=Delivery(intent.delivery),
        attempts=intent.attempts,
        deletes=STATED[intent.operation].deletes,
    )
    # What is sent again has waited for long enough.
    verdict = Verdict(verdict.state, Reason.PROCESS, again_in=None if verdict.again_in is None else 0.0)
    outcome.apply({"pk": intent.pk, "state": State.SENDING, "claim": intent.claim}, verdict)


def mark_restored(found_at: datetime) -> int:
    """Call uncertain what this database has yet to send: it may have left since the backup. What the service accepted
    is followed as ever, and readings settle the rest where they can.
    """
    open_ones = Intent.objects.filter(state__in=[State.QUEUED, State.SENDING]).order_by("pk")
    verdict = Verdict(State.UNCERTAIN, Reason.RESTORED)
    return sum(outcome.apply(dict(each), verdict) for each in list(open_ones.values("pk", "state", "claim")))


def ring(intent: Intent) -> None:
    """Tell a worker, once. A broker that is away is no error: the next sweep rings again."""
    bell.ring(_TASKS + _BELLS[State(intent.state)], [(intent.tenant_id, intent.pk)], queue=intent.queue)


def _late() -> QuerySet[Intent]:
    late = Intent.objects_across_tenants.filter(state=State.QUEUED, deadline__lte=ClockTime())
    return late.select_related("tenant__environment")


def _abandoned() -> QuerySet[Intent]:
    """Claims that can no longer be recorded, and earlier those whose process is gone: see decision 0043."""
    once = Q(delivery__in=[Delivery.PHYSICAL, Delivery.CREATE])
    # An image may be on its way for longer than any silence.
    silent = _older(SILENT_SECONDS) & once | _older(REPEAT_SECONDS) & ~once & ~Q(operation__in=outcome.IMAGES)
    ended = silent & living.ended("claim", since="claimed_at")
    abandoned = Intent.objects_across_tenants.filter(_older(CLAIM_SECONDS) | ended, state=State.SENDING)
    return abandoned.select_related("tenant__environment")


def _older(seconds: float) -> Q:
    return Q(claimed_at__lte=ClockTime() - timedelta(seconds=seconds))


def _unrung() -> QuerySet[Intent]:
    unrung = Q(rung_at__isnull=True) | Q(rung_at__lte=ClockTime() - timedelta(seconds=RING_AGAIN_SECONDS))
    return _waiting().filter(unrung, is_due())


def _waiting() -> QuerySet[Intent]:
    return Intent.objects_across_tenants.filter(due_at__isnull=False, state__in=[state.value for state in _BELLS])


# Whoever settles one and calls the next in line holds two: waiting for rows in another order would be a deadlock.
_DUE = Due(
    rows=_unrung,
    mark=lambda: {"rung_at": ClockTime()},
    needs=("state", "queue"),
    order=("priority", "due_at"),
    batch=_BATCH,
)


def register() -> None:
    finding.register("requests", mark_restored)
    ticking.register("sweep", sweep, every=SWEEP_SECONDS, queue="doors", work=work, lag=_lag)
