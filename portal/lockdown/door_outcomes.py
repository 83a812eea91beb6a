"""What a lockdown came to at each door, told from the requests themselves: nothing of it is kept twice.

A door's latest request decides, unless somebody asked for something newer of that door: then that does.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q, QuerySet

from portal.core.intents.models import Intent, target_of
from portal.core.intents.states import NOT_APPLIED, UNDER_WAY, Reason
from portal.core.intents.states import State as Sent
from portal.core.mirror.models import DoorState, PassController
from portal.core.mirror.natural_sort import natural_key
from portal.core.timers.scaled_pauses import scaled_pause
from portal.core.ui.chips import Chip
from portal.devices.actions import DoorCommand
from portal.devices.queries import state_of
from portal.lockdown.models import Lockdown, LockdownDoor, State

# Surely nothing was done of these, so that they are nobody's last word about a door.
NOT_APPLIED_Q = Q(state__in=NOT_APPLIED) & ~Q(reason=Reason.REQUEST_FAILED)
# Of a try that ended so, only a person makes another: somebody stopped it, or its person's right is gone.
_PERSON_RETRIES = (Reason.STOPPED, Reason.RIGHTS)
_FIRST_PAUSE, _MAX_PAUSE = scaled_pause(30), scaled_pause(900)

#: What came of a door, by the names of chips; in the order in which the page tells.
MISSED, UNCERTAIN, NEWER, SENDING, DONE, IDLE = "missed", "uncertain", "newer", "sending", "done", "waiting"
ORDER = (MISSED, UNCERTAIN, NEWER, SENDING, DONE, IDLE)
_NOT_LOCKED = (
    DoorState.UNLOCKED, DoorState.PASSING, DoorState.OPEN, DoorState.HELD, DoorState.HELD_OPEN, DoorState.FORCED_OPEN,
    DoorState.LEFT_OPEN,
)  # fmt: skip


@dataclass(frozen=True)
class DoorOutcome:
    """One door. `newer_intent` is somebody's later request for it that was done, may have been, or is under way."""

    row: LockdownDoor
    newer_intent: Intent | None
    door: PassController | None
    order: Lockdown

    @property
    def is_active(self) -> bool:
        return self.order.state == State.STANDING

    @property
    def result(self) -> str:
        """One of ORDER."""
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
        """Whether something of it is under way, ours or somebody's."""
        last = self.newer_intent or self.row.intent
        return last is not None and last.state in UNDER_WAY

    @property
    def is_waiting_for_calls(self) -> bool:
        """Whether its latest try was never sent because the hour's calls were used up."""
        intent = self.row.intent
        return self.result == MISSED and intent is not None and intent.reason == Reason.BUDGET

    @property
    def is_waiting_for_person(self) -> bool:
        intent = self.row.intent
        return self.result == MISSED and intent is not None and intent.reason in _PERSON_RETRIES

    @property
    def should_retry(self) -> bool:
        """Whether another try is made of it by itself. What unlocks is never sent but by a person's press."""
        return (
            self.is_active
            and not self.order.is_evacuation
            and self.result in (MISSED, UNCERTAIN)
            and not self.is_waiting_for_person
        )

    @property
    def retry_pause(self) -> timedelta:
        """Until the next try: it grows, but not for tries that were never sent for want of calls."""
        if self.is_waiting_for_calls:
            return timedelta(0)
        return min(_FIRST_PAUSE * int(2 ** min(max(self.row.attempts - 1, 0), 10)), _MAX_PAUSE)

    @property
    def is_opened_since(self) -> bool:
        """Whether the door was locked, and something that was learned later says that it is not any more."""
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
        """What is known of the door now, if it is still there."""
        return state_of(self.door, self.order.tenant.environment.catalogue.states) if self.door is not None else None


def command_of(order: Lockdown) -> DoorCommand:
    """Return the command that an order sends to its doors."""
    return DoorCommand.HOLD if order.is_evacuation else DoorCommand.LOCK


def door_outcomes(order: Lockdown) -> list[DoorOutcome]:
    """Every door of an order, those first that nobody can rely on."""
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
    """How many doors came to what; beside the names of ORDER `opened`: those locked that were opened since."""
    found = list(found)
    return Counter(each.result for each in found) + Counter(opened=sum(each.is_opened_since for each in found))


def has_newer_command(row: LockdownDoor) -> bool:
    """Whether the last word about a door is no longer this row's. Take the door's turn before, to be sure."""
    last = row.intent_id or 0
    target = target_of("pass_controller", row.device_id)
    return bool(row.intent_id) and _commands_for(row.lockdown, [target]).filter(pk__gt=last).exists()


def _commands_for(order: Lockdown, targets: list[str]) -> QuerySet[Intent]:
    """What counts as a word about these doors. To an order that locks, another lock by the portal (the end of a hold)
    is none: it wishes the same, and where it came to nothing the order goes on.
    """
    found = Intent.objects.filter(target__in=targets).exclude(NOT_APPLIED_Q)
    return found if order.is_evacuation else found.exclude(automatic=True, result__control=DoorCommand.LOCK.value)


def _newer_intents(order: Lockdown, rows: list[LockdownDoor]) -> dict[str, Intent]:
    """For each door the latest request that is newer than the order's own, and not nothing; of one that has ended, as
    it was then.
    """
    asked = {target_of("pass_controller", row.device_id): row for row in rows if row.intent_id is not None}
    found = _commands_for(order, list(asked))
    if order.ended_at is not None:
        found = found.filter(created_at__lte=order.ended_at)
    newest = found.order_by("target", "-pk").distinct("target").select_related("by")
    return {asked[each.target].device_id: each for each in newest if each.pk > (asked[each.target].intent_id or 0)}
