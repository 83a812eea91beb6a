"""Queue notifications of new alerts in the alerts' transaction, so that none is lost."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from portal.base.restore.models import Restored
from portal.base.timers import task_queue
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.rules import Hours
from portal.domain.notifications.models import RESTORED, Audience, State, Telling, WebAddress, Wish
from tenants import roles
from tenants.models import Staff
from tenants.roles import Permission
from tenants.scope import current_tenant_id

SEND_TASK = "portal.domain.notifications.tasks.send_notification"
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
    transaction.on_commit(lambda: task_queue.enqueue(SEND_TASK, calls))


def _active_staff() -> Iterator[Staff]:
    return Staff.objects.filter(is_active=True, user__is_active=True).order_by("pk").iterator()


def _is_recipient(staff: Staff, audience: Audience | None) -> bool:
    return audience is None or staff.role in audience.roles or staff.user_id in audience.people


def _wants_mail(staff: Staff, wish: Wish | None, alert: Alert, now: datetime) -> bool:
    """Return True if a person wants e-mail of an alert now."""
    least = wish.least if wish is not None else default_min_severity(staff.role)
    hours = Hours.of(wish.hours) if wish is not None else None
    return 0 < least <= alert.severity and not (hours is not None and hours.includes(now))
