"""The outcome of a lockdown for each door, and the retries of doors that were not reached.

The outcome is derived from the requests and not stored separately. A door's latest request of the order decides, unless
a newer command was requested for the door. Then that decides.

Doors are retried until the lockdown is released. Each try is a separate intent. The timer is stored in the lockdown's
row (`due_at`), so it is not lost when a process or the broker stops. One step checks all doors, and sends as many
requests as the hour has calls for, doors with the fewest tries first. It then sets the next time. It sends nothing to a
door after a person's newer command, and nothing after the release.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from accessapi.operations import CallClass
from portal.base.restore import marking
from portal.base.timers.clock import ClockTime, database_now, growing_pause, scaled_pause
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.base.ui.chips import Chip
from portal.devices.actions import DoorCommand, service_command, why_unavailable
from portal.devices.queries import state_of
from portal.domain.budget import quota
from portal.domain.budget.priorities import Priority
from portal.domain.intents import actions as intents
from portal.domain.intents.models import NOT_APPLIED, UNDER_WAY, Intent, Reason, target_of
from portal.domain.intents.models import State as Sent
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Requester, lock_target, record_intent
from portal.domain.places.models import DoorState, PassController, natural_key
from portal.lockdown.models import Kind, Lockdown, LockdownDoor, State
from tenants.access import access_to
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission

# Requests that surely changed nothing, so they do not count as a newer command for a door.
NOT_APPLIED_Q = Q(state__in=NOT_APPLIED) & ~Q(reason=Reason.REQUEST_FAILED)
# After these reasons only a person retries: a person stopped the request, or the permission was lost.
_PERSON_RETRIES = (Reason.STOPPED, Reason.RIGHTS)
_FIRST_PAUSE, _MAX_PAUSE = scaled_pause(30), scaled_pause(900)

# Outcomes of a door, named as chips; in the order in which the page lists them.
MISSED, UNCERTAIN, NEWER, SENDING, DONE, IDLE = "missed", "uncertain", "newer", "sending", "done", "waiting"
ORDER = (MISSED, UNCERTAIN, NEWER, SENDING, DONE, IDLE)
_NOT_LOCKED = (
    DoorState.UNLOCKED, DoorState.PASSING, DoorState.OPEN, DoorState.HELD, DoorState.HELD_OPEN, DoorState.FORCED_OPEN,
    DoorState.LEFT_OPEN,
)  # fmt: skip


@dataclass(frozen=True)
class DoorOutcome:
    """The outcome of one door. `newer_intent` is a later request for it that succeeded, is uncertain or in progress."""

    row: LockdownDoor
    newer_intent: Intent | None
    door: PassController | None
    order: Lockdown

    @property
    def is_active(self) -> bool:
        return self.order.state == State.STANDING

    @property
    def result(self) -> str:
        """Return one of ORDER."""
        if self.newer_intent is not None:
            same = self.newer_intent.result.get("control") == command_of(self.order)
            return DONE if same and self.newer_intent.state == Sent.SUCCEEDED else NEWER
        if self.row.intent is None:
            return IDLE
        if self.row.intent.state in UNDER_WAY:
            return SENDING
        return {Sent.SUCCEEDED: DONE, Sent.UNCERTAIN: UNCERTAIN}.get(Sent(self.row.intent.state), MISSED)

    @property
    def is_in_progress(self) -> bool:
        """Check whether a request for the door is in progress, of this order or a newer one."""
        last = self.newer_intent or self.row.intent
        return last is not None and last.state in UNDER_WAY

    @property
    def is_waiting_for_calls(self) -> bool:
        """Check whether its latest request was not sent because no API calls were left."""
        intent = self.row.intent
        return self.result == MISSED and intent is not None and intent.reason == Reason.BUDGET

    @property
    def is_waiting_for_person(self) -> bool:
        intent = self.row.intent
        return self.result == MISSED and intent is not None and intent.reason in _PERSON_RETRIES

    @property
    def should_retry(self) -> bool:
        """Check whether the door is retried automatically. Unlocking is only sent after a person's click."""
        return (
            self.is_active
            and not self.order.is_evacuation
            and self.result in (MISSED, UNCERTAIN)
            and not self.is_waiting_for_person
        )

    @property
    def retry_pause(self) -> timedelta:
        """Return the pause before the next try.

        It grows, except after tries that were not sent because no calls were left.
        """
        if self.is_waiting_for_calls:
            return timedelta(0)
        return growing_pause(_FIRST_PAUSE, self.row.attempts - 1, _MAX_PAUSE)

    @property
    def is_opened_since(self) -> bool:
        """Check whether the door was locked, and is known to be unlocked since then."""
        done = self.row.intent.finished_at if self.row.intent is not None else None
        if (
            self.order.is_evacuation
            or self.result != DONE
            or self.newer_intent is not None
            or self.door is None
            or done is None
        ):
            return False
        since = self.door.state_since
        return self.door.state in _NOT_LOCKED and since is not None and since > done

    @property
    def current_state(self) -> Chip | None:
        """Return the door's present state, if the door still exists."""
        return state_of(self.door, self.order.tenant.environment.catalogue.states) if self.door is not None else None


def command_of(order: Lockdown) -> DoorCommand:
    """Return the command that an order sends to its doors."""
    return DoorCommand.HOLD if order.is_evacuation else DoorCommand.LOCK


def door_outcomes(order: Lockdown) -> list[DoorOutcome]:
    """Return the outcome of every door of an order, doors with problems first."""
    rows = list(order.doors.select_related("intent__by").order_by("name", "pk"))
    for row in rows:
        if row.intent is not None:
            row.intent.tenant = order.tenant
    newer = _newer_intents(order, rows)
    doors = PassController.objects.filter(device_id__in=[row.device_id for row in rows]).defer("extra", "told")
    known = {door.device_id: door for door in doors}
    found = [DoorOutcome(row, newer.get(row.device_id), known.get(row.device_id), order) for row in rows]
    return sorted(
        found, key=lambda each: (not each.is_opened_since and ORDER.index(each.result), natural_key(str(each.row)))
    )


def count_results(found: Iterable[DoorOutcome]) -> Counter[str]:
    """Count doors by outcome. `opened` is the number of locked doors that were opened since then."""
    found = list(found)
    return Counter(each.result for each in found) + Counter(opened=sum(each.is_opened_since for each in found))


def has_newer_command(row: LockdownDoor) -> bool:
    """Check whether a door has a newer command than this row's. Lock the door's target before, to be sure."""
    last = row.intent_id or 0
    target = target_of("pass_controller", row.device_id)
    return bool(row.intent_id) and _commands_for(row.lockdown, [target]).filter(pk__gt=last).exists()


def _commands_for(order: Lockdown, targets: list[str]) -> QuerySet[Intent]:
    """Return the requests that count as commands for these doors.

    For an order that locks, automatic locking (the end of a hold) does not count: it has the same goal, and the order
    continues if it fails.
    """
    found = Intent.objects.filter(target__in=targets).exclude(NOT_APPLIED_Q)
    return found if order.is_evacuation else found.exclude(automatic=True, result__control=DoorCommand.LOCK.value)


def _newer_intents(order: Lockdown, rows: list[LockdownDoor]) -> dict[str, Intent]:
    """Return the latest newer request for each door, without those that changed nothing.

    For an ended order, only requests until its end count.
    """
    asked = {target_of("pass_controller", row.device_id): row for row in rows if row.intent_id is not None}
    found = _commands_for(order, list(asked))
    if order.ended_at is not None:
        found = found.filter(created_at__lte=order.ended_at)
    newest = found.order_by("target", "-pk").distinct("target").select_related("by")
    return {asked[each.target].device_id: each for each in newest if each.pk > (asked[each.target].intent_id or 0)}


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


# If a worker dies during a step, another one takes over after 5 seconds.
ORDERS = Process(
    name="lockdowns",
    rows=due(Lockdown, state=State.STANDING),
    step=run_step,
    queue="doors",
    every=1.0,
    seconds=30,
    claim_values=retry_after(5),
)
