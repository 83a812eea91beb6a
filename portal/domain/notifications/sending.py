"""Send due notifications. Each is claimed before it is sent, so that it is never sent twice (decision 67)."""

from datetime import datetime, timedelta

from django.db.models import F

from portal.base.timers.clock import ClockTime
from portal.base.timers.scaled_pauses import scaled_pause
from portal.base.timers.timer_registry import TaskWakeup
from portal.domain.notifications.delivery_outcomes import DeliveryOutcome
from portal.domain.notifications.mailing import send_alert
from portal.domain.notifications.models import RESTORED, State, Telling
from portal.domain.notifications.posting import post
from portal.domain.notifications.queueing import SEND_TASK

# A try takes less time. After this time its process has crashed.
LEASE = timedelta(seconds=90)
# The pauses after tries that certainly did not arrive. After the last one there is no further try.
RETRY_PAUSES = tuple(timedelta(seconds=each) for each in (10, 60, 300, 1800, 7200))
_RING_AGAIN = scaled_pause(30)


def send(pk: int) -> None:
    """Send a notification if it is due. If an earlier sender crashed, mark it as uncertain instead."""
    _mark_abandoned(pk)
    found = _claim(pk)
    if found is not None:
        _save_outcome(found, send_alert(found) if found.user_id is not None else post(found))


def _mark_abandoned(pk: int) -> None:
    """Mark as uncertain what was claimed and not finished in time."""
    dead = Telling.objects.filter(pk=pk, state=State.SENDING, claimed_at__lt=ClockTime() - LEASE)
    dead.update(state=State.UNCERTAIN, due_at=None, ended_at=ClockTime(), answer="")


def _claim(pk: int) -> Telling | None:
    """Claim a notification for this process. Return None if it is claimed, finished or not due yet."""
    free = Telling.objects.filter(pk=pk, state=State.WAITING, not_before__lte=ClockTime())
    now = ClockTime()
    if not free.update(state=State.SENDING, claimed_at=now, due_at=now + LEASE, attempts=F("attempts") + 1):
        return None
    return Telling.objects.select_related("alert", "user", "address").get(pk=pk)


def _save_outcome(telling: Telling, outcome: DeliveryOutcome) -> None:
    """Save the result of a try, even if the notification was marked as uncertain in the meantime."""
    row = Telling.objects.filter(pk=telling.pk, attempts=telling.attempts)
    if outcome.should_retry and telling.attempts <= len(RETRY_PAUSES):
        at = ClockTime() + RETRY_PAUSES[telling.attempts - 1]
        row.filter(state=State.SENDING).update(state=State.WAITING, not_before=at, due_at=at, answer=outcome.answer)
    else:
        row.update(state=outcome.state, due_at=None, ended_at=ClockTime(), answer=outcome.answer)


def mark_restored(found_at: datetime) -> int:
    """Mark unfinished notifications of a restored database as uncertain, because they may have been sent since."""
    rows = Telling.objects.filter(state__in=[State.WAITING, State.SENDING])
    return rows.update(state=State.UNCERTAIN, due_at=None, ended_at=ClockTime(), answer=RESTORED)


DUE: TaskWakeup[Telling] = TaskWakeup(
    rows=lambda: Telling.objects_across_tenants.filter(due_at__lte=ClockTime()),
    task=SEND_TASK,
    claim_values=lambda: {"due_at": ClockTime() + _RING_AGAIN},
)
