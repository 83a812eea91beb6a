"""Sending what is due: claimed before it leaves, so that nobody is told twice (decision 67)."""

from datetime import datetime, timedelta

from django.db.models import F

from portal.core.notifications.delivery_outcomes import DeliveryOutcome
from portal.core.notifications.mailing import send_alert
from portal.core.notifications.models import RESTORED, State, Telling
from portal.core.notifications.posting import post
from portal.core.notifications.queueing import SEND_TASK
from portal.core.timers.clock import ClockTime
from portal.core.timers.scaled_pauses import scaled_pause
from portal.core.timers.timer_registry import TaskWakeup

# A try takes less; one that took longer has died on the way.
LEASE = timedelta(seconds=90)
# How long to wait after each try that surely did not arrive; after the last, no more.
RETRY_PAUSES = tuple(timedelta(seconds=each) for each in (10, 60, 300, 1800, 7200))
_RING_AGAIN = scaled_pause(30)


def send(pk: int) -> None:
    """Send one telling, if it is its time. Of one whose sender died it is only noted that nobody knows."""
    _mark_abandoned(pk)
    found = _claim(pk)
    if found is not None:
        _save_outcome(found, send_alert(found) if found.user_id is not None else post(found))


def _mark_abandoned(pk: int) -> None:
    """Call uncertain what was claimed and never ended."""
    dead = Telling.objects.filter(pk=pk, state=State.SENDING, claimed_at__lt=ClockTime() - LEASE)
    dead.update(state=State.UNCERTAIN, due_at=None, ended_at=ClockTime(), answer="")


def _claim(pk: int) -> Telling | None:
    """Take a telling for this process alone; None where another has it, it is over, or it is too early."""
    free = Telling.objects.filter(pk=pk, state=State.WAITING, not_before__lte=ClockTime())
    now = ClockTime()
    if not free.update(state=State.SENDING, claimed_at=now, due_at=now + LEASE, attempts=F("attempts") + 1):
        return None
    return Telling.objects.select_related("alert", "user", "address").get(pk=pk)


def _save_outcome(telling: Telling, outcome: DeliveryOutcome) -> None:
    """Write down how a try ended: also of one that was called uncertain meanwhile."""
    row = Telling.objects.filter(pk=telling.pk, attempts=telling.attempts)
    if outcome.should_retry and telling.attempts <= len(RETRY_PAUSES):
        at = ClockTime() + RETRY_PAUSES[telling.attempts - 1]
        row.filter(state=State.SENDING).update(state=State.WAITING, not_before=at, due_at=at, answer=outcome.answer)
    else:
        row.update(state=outcome.state, due_at=None, ended_at=ClockTime(), answer=outcome.answer)


def mark_restored(found_at: datetime) -> int:
    """Send nothing that this database has yet to send: it may have arrived since the backup."""
    rows = Telling.objects.filter(state__in=[State.WAITING, State.SENDING])
    return rows.update(state=State.UNCERTAIN, due_at=None, ended_at=ClockTime(), answer=RESTORED)


DUE: TaskWakeup[Telling] = TaskWakeup(
    rows=lambda: Telling.objects_across_tenants.filter(due_at__lte=ClockTime()),
    task=SEND_TASK,
    claim_values=lambda: {"due_at": ClockTime() + _RING_AGAIN},
)
