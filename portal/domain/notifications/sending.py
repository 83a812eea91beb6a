"""Queue notifications of new alerts in the alerts' transaction, so that none is lost, and send those that are due.

Each is claimed before it is sent, so that it is never sent twice (decision 67).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from portal.base.restore.models import Restored
from portal.base.timers import celery_app
from portal.base.timers.clock import ClockTime, database_now, scaled_pause, scaled_seconds
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.rules import Hours
from portal.domain.notifications.mailing import DeliveryOutcome, send_alert
from portal.domain.notifications.models import RESTORED, Audience, State, Telling, WebAddress, Wish
from portal.domain.notifications.posting import post
from tenants import roles
from tenants.models import Staff
from tenants.roles import Permission
from tenants.scope import current_tenant_id

# The timer starts the tasks for further notifications.
_MAX_RINGS = 50


def default_min_severity(role: str) -> int:
    """Return from which severity on a role gets e-mail if the person has not chosen one; 0: none."""
    return Severity.ALARM if roles.find_role(role).permissions >= {Permission.ALERTS_TAKE} else 0


def on_new_alerts(alerts: Sequence[Alert]) -> None:
    """Queue the notifications of new alerts, and start their tasks after commit."""
    now = database_now()
    restored_at = Restored.objects.order_by("-found_at").values_list("found_at", flat=True).first()
    staff = [each for each in _active_staff() if Permission.ALERTS_VIEW in roles.find_role(each.role).permissions]
    wishes = {each.user_id: each for each in Wish.objects.filter(user__in=[each.user_id for each in staff])}
    audiences = {each.kind: each for each in Audience.objects.all()}
    addresses = list(WebAddress.objects.only("pk", "tenant_id", "least"))
    rows = []
    for alert in alerts:
        state = _initial_state(alert, restored_at)
        wanted = (each for each in staff if _is_recipient(each, audiences.get(alert.kind)))
        people = (each for each in wanted if _wants_mail(each, wishes.get(each.user_id), alert, now))
        rows += [Telling(alert=alert, user_id=each.user_id, **state) for each in people]
        rows += [Telling(alert=alert, address=each, **state) for each in addresses if alert.severity >= each.least]
    notify_worker_after_commit([each for each in Telling.objects.bulk_create(rows) if each.state == State.WAITING])


def _initial_state(alert: Alert, restored_at: datetime | None) -> dict[str, Any]:
    """Return the initial state of a notification. Alerts from before a restore may have been sent already."""
    if restored_at is None or alert.began_at >= restored_at:
        return {}
    return {"state": State.UNCERTAIN, "due_at": None, "ended_at": ClockTime(), "answer": RESTORED}


def notify_worker_after_commit(rows: Sequence[Telling]) -> None:
    """Notify workers after commit."""
    tenant = current_tenant_id()
    calls = [(tenant, each.pk) for each in rows[:_MAX_RINGS]]
    transaction.on_commit(lambda: celery_app.enqueue(NOTIFICATIONS.task, calls))


def _active_staff() -> Iterator[Staff]:
    return Staff.objects.filter(is_active=True, user__is_active=True).order_by("pk").iterator()


def _is_recipient(staff: Staff, audience: Audience | None) -> bool:
    return audience is None or staff.role in audience.roles or staff.user_id in audience.people


def _wants_mail(staff: Staff, wish: Wish | None, alert: Alert, now: datetime) -> bool:
    """Return True if a person wants e-mail of an alert now."""
    least = wish.least if wish is not None else default_min_severity(staff.role)
    hours = Hours.of(wish.hours) if wish is not None else None
    return 0 < least <= alert.severity and not (hours is not None and hours.includes(now))


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


NOTIFICATIONS = Process(
    name="notifications",
    rows=due(Telling),
    step=send,
    queue="sync",
    every=scaled_seconds(2),
    claim_values=retry_after(_RING_AGAIN),
)
