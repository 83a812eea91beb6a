"""A door's last known status in the words of a chip. Values that the specification does not show stay as they came."""

from portal.mirror.models import PassController
from portal.ui.chips import Chip

_LOCKS = {"lock": "locked", "locked": "locked", "unlock": "unlocked", "unlocked": "unlocked"}
_DOORS_OPEN = {"open", "opened"}


def state_of(door: PassController) -> Chip:
    """Locked is quiet; unlocked and open are loud; without a reading, unknown."""
    if door.status_as_of is None:
        return Chip("unknown")
    if is_offline(door):
        return Chip("offline", as_of=door.status_as_of)
    state = _LOCKS.get(door.lock, door.lock)
    if state == "unlocked" and door.door in _DOORS_OPEN:
        state = "held_open"
    return Chip(state, as_of=door.status_as_of)


def is_offline(door: PassController) -> bool:
    return bool(door.cloud_com_status) and door.cloud_com_status != "connected"


def needs_attention(door: PassController) -> bool:
    """Whether somebody should look: an error, no power, no line, or not locked."""
    if door.status_as_of is None:
        return False
    powered = door.power_status in ("", "running")
    return bool(door.errors) or is_offline(door) or not powered or _LOCKS.get(door.lock) == "unlocked"
