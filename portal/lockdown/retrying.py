"""Retry doors that a lockdown has not reached, until it is released. Each try is a separate intent.

The timer is stored in the lockdown's row (`due_at`), so it is not lost when a process or the broker stops. One step
checks all doors, and sends as many requests as the hour has calls for, doors with the fewest tries first. It then sets
the next time. It sends nothing to a door after a person's newer command, and nothing after the release.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from accessapi.operations import CallClass
from portal.base.restore import marking
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import TaskWakeup
from portal.devices.actions import service_command, why_unavailable
from portal.domain.budget import quota
from portal.domain.budget.priorities import Priority
from portal.domain.intents import actions as intents
from portal.domain.intents.models import target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Requester, lock_target, record_intent
from portal.domain.mirror.models import PassController
from portal.lockdown.door_outcomes import DONE, NEWER, DoorOutcome, command_of, door_outcomes, has_newer_command
from portal.lockdown.models import Kind, Lockdown, LockdownDoor, State
from tenants.access import access_to
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission

_SOON, _BLOCKED = timedelta(seconds=2), timedelta(seconds=30)


def run_step(order_id: int) -> None:
    """Run one step of a lockdown. Only one process runs it at a time. Calling it more often does no harm."""
    with transaction.atomic():
        rows = Lockdown.objects.select_related("tenant__environment", "by")
        held = rows.select_for_update(of=("self",), skip_locked=True, no_key=True)
        for order in held.filter(pk=order_id, state=State.STANDING):
            waits = marking.is_waiting("lockdowns", order.pk)
            Lockdown.objects.filter(pk=order.pk).update(due_at=None if waits else _retry_due(order))
            _finish(order)


def _finish(order: Lockdown) -> None:
    """Set a relock order to done when all its doors are locked. No one has to release it."""
    if order.kind == Kind.RELOCK and all(each.result in (DONE, NEWER) for each in door_outcomes(order)):
        over = {"state": State.DONE, "ended_at": ClockTime(), "due_at": None}
        Lockdown.objects.filter(pk=order.pk).update(**over)


def _retry_due(order: Lockdown) -> datetime | None:
    """Retry the doors that are due. Return the time of the next attempt, or None."""
    found, now = door_outcomes(order), database_now()
    waiting = [each for each in found if each.should_retry]
    if waiting and blocked_reason(order):
        return now + _BLOCKED
    due = [each for each in waiting if (at := next_try_at(each)) is not None and at <= now]
    due.sort(key=lambda each: each.row.attempts)
    underway = sum(each.is_in_progress for each in found)
    tried = due[: max(_free_calls() - underway, 0)]
    for each in tried:
        send_command(each.row, order, by=Requester(order.tenant, order.by), nonce=_nonce(each.row), automatic=True)
    if tried or underway:
        return now + _SOON
    first = min((at for each in waiting if (at := next_try_at(each)) is not None), default=None)
    return None if first is None else max(first, calls_available_at(), now + _SOON)


def send_command(row: LockdownDoor, order: Lockdown, *, by: Requester, nonce: Nonce, automatic: bool = False) -> None:
    """Record the order's command for a door, unless there is a newer command. Call it within a transaction."""
    lock_target(order.tenant, target_of("pass_controller", row.device_id))
    if has_newer_command(row):
        return
    door = PassController(device_id=row.device_id, device_name=row.name)
    command = service_command(door, command_of(order), by.user, Permission.LOCKDOWN)
    intent, is_new = record_intent(command, by=by, nonce=nonce, automatic=automatic)
    if is_new:
        LockdownDoor.objects.filter(pk=row.pk).update(intent=intent, attempts=F("attempts") + 1)
        intents.dispatch(intent, inline=False)


def next_try_at(each: DoorOutcome) -> datetime | None:
    """Return when the portal retries this door automatically, if calls are left then; None if it does not."""
    intent = each.row.intent
    if not each.should_retry or intent is None:
        return None
    return (intent.finished_at or intent.created_at) + each.retry_pause


def blocked_reason(order: Lockdown) -> str:
    """Return why no door can be retried now, apart from API calls; empty if retries are possible."""
    access = access_to(order.by, order.tenant)
    if access is None or not access.can(Permission.LOCKDOWN):
        return _("%(who)s no longer has permission. Somebody else has to send again.") % {"who": order.by}
    return why_unavailable(current_connection())


def _free_calls() -> int:
    return quota.count_free_calls(current_connection(), Priority.DOORS, CallClass.DEVICE)


def calls_available_at() -> datetime:
    """Return when a call for a door is expected to be available."""
    return quota.next_call_at(current_connection(), Priority.DOORS, CallClass.DEVICE)


def _nonce(row: LockdownDoor) -> Nonce:
    return Nonce(f"lockdown-{row.pk}-{row.attempts}")


def _due_lockdowns() -> QuerySet[Lockdown]:
    return Lockdown.objects_across_tenants.filter(state=State.STANDING, due_at__lte=ClockTime())


# If a worker dies during a step, another one takes over after 5 seconds.
DUE = TaskWakeup(
    rows=_due_lockdowns,
    task="portal.lockdown.tasks.step",
    claim_values=lambda: {"due_at": ClockTime() + timedelta(seconds=5)},
)
