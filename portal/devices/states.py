"""A door's known state as a chip, and its last reading in words. Values that nobody described stay as they came."""

from dataclasses import dataclass

from accessapi.doors import DoorWord
from accessapi.overrides import States
from portal.core.mirror.models import PassController
from portal.core.mirror.models.devices import DoorState
from portal.core.ui.chips import Chip
from portal.core.ui.vocabulary import word

_ERRORS = {DoorWord.FORCED: "forced_open", DoorWord.LEFT: "left_open"}


def state_of(door: PassController) -> Chip:
    """The state that outranks the others, with when it was last learned; without any knowledge, unknown."""
    if door.state:
        return Chip(door.state, as_of=door.known_at)
    return Chip(door.lock or "unknown", as_of=door.status_as_of)


@dataclass(frozen=True)
class Words:
    """What the last reading of a door says, in the reader's language or else in the service's own words."""

    leaf: str
    lock: str
    errors: list[str]
    power: str
    line: str
    sync: str


def words_of(door: PassController, states: States) -> Words:
    """The last reading of a door, part by part; empty for what it does not say."""
    power, network = door.power_status, door.cloud_com_status
    return Words(
        leaf=word("leaf", states.leaf(door.door), door.door),
        lock=word("lock", states.lock(door.lock), door.lock),
        errors=[word("error", _ERRORS.get(states.event([each]), each), each) for each in door.errors],
        power=word("power", "running" if power and states.is_powered(power) else power),
        line=word("network", "connected" if network and states.is_connected(network) else network),
        sync=word("sync", door.sync_status),
    )


def is_held(door: PassController) -> bool:
    return door.state in (DoorState.HELD, DoorState.HELD_OPEN)
