"""A lockdown stands until it is released: doors that were not reached are tried again, each try an intent of its own.

The order's row carries the timer (`due_at`), so that it outlives every process and a lost broker. One step looks at all
of its doors, asks for as many as the hour has calls for, those with the fewest tries first, and says when to look next.
It never asks after a person's newer command for that door, nor after the release, for which it holds the order's row.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from accessapi.operations import CallClass
from portal.core.budget import quota
from portal.core.budget.priorities import Priority
from portal.core.intents import actions as intents
from portal.core.intents.models import target_of
from portal.core.intents.nonces import Nonce
from portal.core.intents.recording import Requester, lock_target, record_intent
from portal.core.mirror.models import PassController
from portal.core.restore import marking
from portal.core.timers import timer_registry
from portal.core.timers.clock import ClockTime, database_now
from portal.core.timers.timer_registry import TaskWakeup
from portal.devices.actions import intent_values, why_unavailable
from portal.lockdown.door_outcomes import DONE, NEWER, DoorOutcome, command_of, door_outcomes, has_newer_command
from portal.lockdown.models import Kind, Lockdown, LockdownDoor, State
from tenants.access import access_to
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission

_SOON, _BLOCKED = timedelta(seconds=2), timedelta(seconds=30)


def step(order_id: int) -> None:
    """What the timer of an order asks for, by one process at a time. Safe to call any number of times."""
    with transaction.atomic():
        rows = Lockdown.objects.select_related("tenant__environment", "by")
        held = rows.select_for_update(of=("self",), skip_locked=True, no_key=True)
        for order in held.filter(pk=order_id, state=State.STANDING):
            waits = marking.is_waiting("lockdowns", order.pk)
            Lockdown.objects.filter(pk=order.pk).update(due_at=None if waits else _retry_due(order))
            _finish(order)


def _finish(order: Lockdown) -> None:
    """Doors that were unlocked for an evacuation are locked again: nobody has to release that."""
    if order.kind == Kind.RELOCK and all(each.result in (DONE, NEWER) for each in door_outcomes(order)):
        over = {"state": State.DONE, "ended_at": ClockTime(), "due_at": None}
        Lockdown.objects.filter(pk=order.pk).update(**over)


def _retry_due(order: Lockdown) -> datetime | None:
    """Try what can be tried. Returns when to look next; None when nothing is left."""
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
    """Ask for the order's command at a door, unless the last word is somebody's newer one. Within a transaction."""
    lock_target(order.tenant, target_of("pass_controller", row.device_id))
    if has_newer_command(row):
        return
    door = PassController(device_id=row.device_id, device_name=row.name)
    asked = intent_values(door, command_of(order), by, nonce, by.user)
    intent, is_new = record_intent(**asked | {"permission": Permission.LOCKDOWN, "automatic": automatic})
    if is_new:
        LockdownDoor.objects.filter(pk=row.pk).update(intent=intent, attempts=F("attempts") + 1)
        intents.dispatch(intent, inline=False)


def next_try_at(each: DoorOutcome) -> datetime | None:
    """When the portal tries this door again by itself, if the hour has a call then; None when it does not."""
    intent = each.row.intent
    if not each.should_retry or intent is None:
        return None
    return (intent.finished_at or intent.created_at) + each.retry_pause


def blocked_reason(order: Lockdown) -> str:
    """Why no door can be tried now, whatever is left of the hour; empty when they can."""
    access = access_to(order.by, order.tenant)
    if access is None or not access.can(Permission.LOCKDOWN):
        return _("%(who)s no longer has permission. Somebody else has to send again.") % {"who": order.by}
    return why_unavailable(current_connection())


def _free_calls() -> int:
    return quota.count_free_calls(current_connection(), Priority.DOORS, CallClass.DEVICE)


def calls_available_at() -> datetime:
    """When the hour is expected to have a call for a door."""
    return quota.next_call_at(current_connection(), Priority.DOORS, CallClass.DEVICE)


def _nonce(row: LockdownDoor) -> Nonce:
    return Nonce(f"lockdown-{row.pk}-{row.attempts}")


def _due_lockdowns() -> QuerySet[Lockdown]:
    return Lockdown.objects_across_tenants.filter(state=State.STANDING, due_at__lte=ClockTime())


# A worker that dies at a step is replaced then.
DUE = TaskWakeup(
    rows=_due_lockdowns,
    task="portal.lockdown.tasks.step",
    claim_values=lambda: {"due_at": ClockTime() + timedelta(seconds=5)},
)


def register() -> None:
    marking.register_timer("lockdowns", lambda: Lockdown.objects.filter(state=State.STANDING))
    timer_registry.register("lockdowns", DUE.check_due, every=1.0, queue="doors", due_rows=DUE.querysets)
