"""A door's known state as a chip, and its last reading in words. Values that nobody described stay as they came."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.doors import DoorWord
from accessapi.overrides import States
from portal.core.mirror.models import PassController
from portal.core.mirror.models.devices import DoorState
from portal.core.ui.chips import Chip

_LEAVES = {"open": pgettext_lazy("door", "Open"), "closed": pgettext_lazy("door", "Closed")}
_LOCKS = {"locked": _("Locked"), "unlocked": _("Unlocked")}
_POWERED, _CONNECTED = pgettext_lazy("power", "Running"), _("Connected")
_ERRORS = {DoorWord.FORCED: _("Forced open"), DoorWord.LEFT: _("Left open")}


def state_of(door: PassController) -> Chip:
    """The state that outranks the others, with when it was last learned; without any knowledge, unknown."""
    if door.state:
        return Chip(door.state, as_of=door.known_at)
    return Chip(door.lock or "unknown", as_of=door.status_as_of)


@dataclass(frozen=True)
class Words:
    """What the last reading of a door says, in the reader's language or else in the service's own words."""

    leaf: str | Promise
    lock: str | Promise
    errors: list[str]
    power: str | Promise
    line: str | Promise
    sync: str


def words_of(door: PassController, states: States) -> Words:
    """The last reading of a door, part by part; empty for what it does not say."""
    return Words(
        leaf=_LEAVES.get(states.leaf(door.door), door.door),
        lock=_LOCKS.get(states.lock(door.lock), door.lock),
        errors=[str(_ERRORS.get(states.event([error]), error)) for error in door.errors],
        power=_POWERED if door.power_status and states.is_powered(door.power_status) else door.power_status,
        line=_CONNECTED if door.cloud_com_status and states.is_connected(door.cloud_com_status)
        else door.cloud_com_status,
        sync=door.sync_status,
    )  # fmt: skip


def is_held(door: PassController) -> bool:
    return door.state in (DoorState.HELD, DoorState.HELD_OPEN)
