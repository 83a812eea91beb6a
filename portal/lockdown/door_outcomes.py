"""The outcome of a lockdown for each door, and its retries.

A lockdown, an evacuation and locking after it are orders (`portal/devices/door_orders.py`). Doors are retried until the
lockdown is released. Nothing is sent after the release.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from portal.base.timers.clock import ClockTime, scaled_pause
from portal.base.ui.chips import Chip
from portal.devices import door_orders
from portal.devices.actions import DoorCommand
from portal.devices.door_orders import DONE, NEWER, RESULTS, DoorOrder, DoorOutcome
from portal.devices.queries import state_of
from portal.domain.intents.models import Reason
from portal.domain.intents.recording import Requester
from portal.domain.places.models import DoorState, PassController, natural_key
from portal.lockdown.models import Kind, Lockdown, LockdownDoor, State
from tenants.roles import Permission

_NOT_LOCKED = (
    DoorState.UNLOCKED, DoorState.PASSING, DoorState.OPEN, DoorState.HELD, DoorState.HELD_OPEN, DoorState.FORCED_OPEN,
    DoorState.LEFT_OPEN,
)  # fmt: skip


def door_order_of(lockdown: Lockdown) -> DoorOrder:
    """Return the order of a lockdown. It needs the permission of its person, who keeps acting.

    After a person stopped a request, or the permission was lost, only a person retries.
    """
    return DoorOrder(
        by=Requester(lockdown.tenant, lockdown.by),
        command=DoorCommand.HOLD if lockdown.is_evacuation else DoorCommand.LOCK,
        permission=Permission.LOCKDOWN,
        first_pause=scaled_pause(30),
        longest_pause=scaled_pause(900),
        is_active=lockdown.state == State.ACTIVE,
        ended_at=lockdown.ended_at,
        person_retries=(Reason.STOPPED, Reason.RIGHTS),
    )


@dataclass(frozen=True)
class LockdownOutcome(DoorOutcome[LockdownDoor]):
    """The outcome of one door of a lockdown, with its present state."""

    door: PassController | None
    lockdown: Lockdown

    @property
    def is_opened_since(self) -> bool:
        """Check whether the door was locked, and is known to be unlocked since then."""
        done = self.row.request.finished_at if self.row.request is not None else None
        if (
            self.lockdown.is_evacuation
            or self.result != DONE
            or self.newer is not None
            or self.door is None
            or done is None
        ):
            return False
        since = self.door.state_since
        return self.door.state in _NOT_LOCKED and since is not None and since > done

    @property
    def current_state(self) -> Chip | None:
        """Return the door's present state, if the door still exists."""
        return state_of(self.door, self.lockdown.tenant.environment.catalogue.states) if self.door is not None else None


def door_outcomes(lockdown: Lockdown) -> list[LockdownOutcome]:
    """Return the outcome of every door of a lockdown, doors with problems first."""
    rows = list(lockdown.doors.select_related("request__by").order_by("name", "pk"))
    doors = PassController.objects.filter(device_id__in=[row.device_id for row in rows]).defer("extra", "events")
    known = {door.device_id: door for door in doors}
    found = [
        LockdownOutcome(**vars(each), door=known.get(each.row.device_id), lockdown=lockdown)
        for each in door_orders.outcomes(door_order_of(lockdown), rows)
    ]
    return sorted(
        found, key=lambda each: (not each.is_opened_since and RESULTS.index(each.result), natural_key(str(each.row)))
    )


def count_results(found: Iterable[LockdownOutcome]) -> Counter[str]:
    """Count doors by outcome. `opened` is the number of locked doors that were opened since then."""
    found = list(found)
    return Counter(each.result for each in found) + Counter(opened=sum(each.is_opened_since for each in found))


def run_step(lockdown: Lockdown) -> datetime | None:
    """Run one step of a lockdown. Return the time of the next one, or None.

    Locking after an evacuation is done when all its doors are locked. No one has to release it.
    """
    found = door_outcomes(lockdown)
    if lockdown.kind == Kind.RELOCK and all(each.result in (DONE, NEWER) and not each.is_in_progress for each in found):
        over = {"state": State.DONE, "ended_at": ClockTime(), "due_at": None}
        Lockdown.objects.filter(pk=lockdown.pk).update(**over)
        return None
    return door_orders.retry_doors(door_order_of(lockdown), found)


ORDERS = door_orders.order_process(
    "lockdowns", Lockdown, states={"state": State.ACTIVE}, step=run_step, related=("by",)
)
