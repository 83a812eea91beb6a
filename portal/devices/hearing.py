"""What the log tells of doors: an alarm, a hold, its end. The door is then read at once, and every page says so."""

from collections.abc import Sequence
from datetime import datetime

from accessapi.doors import DoorWord
from accessapi.overrides import States
from portal.core.mirror import doors, hooks
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import History
from portal.core.timers.bell import ring_after_commit
from portal.devices.watch import READ_STALE
from tenants.models import Tenant

# Records of these categories are worth a reading, whatever their words: somebody operated the door, or it is serious.
_SERIOUS = frozenset({"operation", "emergency"})


def heard(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """New records came in, oldest first: listener of the mirror, inside the transaction that takes them over."""
    states = tenant.environment.catalogue.states
    wanted: dict[str, datetime | None] = {}
    for record in histories:
        word = word_of(record, states)
        if record.device_id and word is not None and doors.tell(tenant, record.device_id, word, at=record.at):
            wanted[record.device_id] = None
        elif record.device_id and record.category in _SERIOUS:
            wanted.setdefault(record.device_id, record.at)
    if sum(doors.look_at(device_id, unless_read_after=at) for device_id, at in sorted(wanted.items())):
        ring_after_commit(READ_STALE, tenant.pk)


def word_of(record: History, states: States) -> DoorWord | None:
    """What a record tells of its door, if it is about an alarm or a hold."""
    word = states.event([record.content])
    return DoorWord.OVER if word in (DoorWord.FORCED, DoorWord.LEFT) and states.is_over(record.status) else word


def register() -> None:
    """Called once, when the app is ready."""
    hooks.after(Kind.HISTORIES, heard)
