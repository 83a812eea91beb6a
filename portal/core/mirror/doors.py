"""What is known of a door: the last reading, what the log and our own commands told since, folded into one state.

The newest word wins, and an alarm stands until something contradicts it: a reading that shows the door shut, or a
record that says it is over. The fold is done when something is learned, so that pages and banners ask one column.

What the log tells counts from the moment we heard it: then a clock of the service's that goes differently cannot make
an old record newer than a reading.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from accessapi.doors import DoorWord
from accessapi.overrides import States
from portal.core.mirror.models import DoorState, PassController
from portal.core.timers.clock import ClockTime, database_now
from tenants.models import Tenant

# Unlocked in every reading for so long is held unlocked, whoever did it: a single pass is over by then.
HELD_AFTER = timedelta(minutes=2)
# How often a quiet door is read; one that is not, the sooner the more lately that began.
QUIET = timedelta(minutes=15)
SOONEST = timedelta(seconds=60)
# A record this much older than a reading that shows the door shut tells of something that is over.
_SKEW = timedelta(minutes=2)

_ALARMS = {DoorWord.FORCED: DoorState.FORCED_OPEN, DoorWord.LEFT: DoorState.LEFT_OPEN}
LOUD = (DoorState.FORCED_OPEN, DoorState.LEFT_OPEN, DoorState.HELD_OPEN, DoorState.HELD)


@dataclass(frozen=True)
class Read:
    """A reading in known words; "" for what it does not say in words that we know."""

    at: datetime | None
    leaf: str
    lock: str
    wrong: DoorWord | None
    online: bool
    powered: bool

    @classmethod
    def of(cls, door: PassController, states: States) -> "Read":
        return cls(
            door.status_as_of,
            states.leaf(door.door),
            states.lock(door.lock),
            states.event(door.errors),
            states.is_connected(door.cloud_com_status),
            states.is_powered(door.power_status),
        )


def read(tenant: Tenant, device_id: str, status: dict[str, Any], at: datetime) -> None:
    """Take over an answer of operation 26 that was asked for at `at`, unless a newer one is there already."""
    with transaction.atomic():
        for door in _held([device_id]):
            if door.status_as_of is not None and door.status_as_of > at:
                continue
            door.status, door.status_as_of = status, at
            found = Read.of(door, tenant.environment.catalogue.states)
            _compare(door.told, found, at)
            door.urgent = False
            _settle(door, found, at)


def tell(tenant: Tenant, device_id: str, word: DoorWord, *, at: datetime | None = None) -> bool:
    """The log (`at`: when the record says) or our own command (without) told something. False: it is known better."""
    states = tenant.environment.catalogue.states
    heard = database_now()
    with transaction.atomic():
        for door in _held([device_id]):
            found = Read.of(door, states)
            if at is not None and _is_known_better(door, found, word, at):
                return False
            since = min(at or heard, heard)
            if word in (DoorWord.HELD, DoorWord.LOCKED):
                door.told.pop("unlocked", None)
                door.told["lock"] = [str(word), heard.isoformat(), since.isoformat()]
            elif word is DoorWord.OVER:
                door.told.pop("alarm", None)
                door.told["over"] = heard.isoformat()
            else:
                door.told.pop("over", None)
                door.told["alarm"] = [str(word), heard.isoformat(), since.isoformat()]
            _settle(door, found, since)
            return True
    return False


def look_at(device_id: str, *, unless_read_after: datetime | None = None) -> bool:
    """Have a door read at once, before those whose turn it is. False: there is no such door, or it was read since."""
    rows = PassController.objects.filter(device_id=device_id)
    if unless_read_after is not None:
        rows = rows.filter(status_as_of__lt=unless_read_after)
    return bool(rows.update(look_at=ClockTime(), urgent=True))


def later(device_id: str) -> None:
    """Do not ask about this door before its next turn: the service does not know it."""
    PassController.objects.filter(device_id=device_id).update(look_at=database_now() + QUIET, urgent=False)


def _held(device_ids: list[str]) -> Iterable[PassController]:
    return PassController.objects.select_for_update(no_key=True, of=("self",)).filter(device_id__in=device_ids)


def _is_known_better(door: PassController, found: Read, word: DoorWord, at: datetime) -> bool:
    """Whether something newer contradicts a record of that moment, which the log told late."""
    if word is DoorWord.HELD:
        return _is_locked_since(door, found, at)
    return found.at is not None and found.leaf == "closed" and at < found.at - _SKEW


def _is_locked_since(door: PassController, found: Read, at: datetime) -> bool:
    """Whether a hold of that moment has ended by what a later command or reading told."""
    told = door.told.get("lock")
    commanded = told is not None and datetime.fromisoformat(told[2]) >= at
    return commanded or (found.lock == "locked" and found.at is not None and found.at > at)


def _compare(told: dict[str, Any], found: Read, at: datetime) -> None:
    """Drop what a reading contradicts, and keep since when it has shown the door unlocked."""
    if "over" in told and datetime.fromisoformat(told["over"]) <= at:
        del told["over"]
    if found.lock == "unlocked":
        told.setdefault("unlocked", at.isoformat())
    else:
        told.pop("unlocked", None)
    if found.lock == "locked" and _before(told.get("lock"), at):
        told.pop("lock", None)
    if found.leaf == "closed" and not found.wrong and _before(told.get("alarm"), at):
        told.pop("alarm", None)


def _before(told: list[str] | None, at: datetime) -> bool:
    return told is not None and datetime.fromisoformat(told[1]) <= at


def _settle(door: PassController, found: Read, at: datetime) -> None:
    """Write the state that follows, since when, and when to look again."""
    state, since = _fold(door.told, found)
    now = database_now()
    if state != door.state:
        door.state, door.state_since = state, since or at
    door.attention = state in ATTENTION or bool(door.errors) or not found.powered
    door.known_at = now
    calm = state in (DoorState.LOCKED, DoorState.OFFLINE, DoorState.UNKNOWN)
    age = now - (door.state_since or now)
    door.look_at = now + (QUIET if calm else min(max(age / 4, SOONEST), QUIET))
    door.save(update_fields=_LEARNED)


_LEARNED = (
    "status", "status_as_of", "state", "state_since", "attention", "told", "known_at", "look_at", "urgent",
)  # fmt: skip
ATTENTION = (*LOUD, DoorState.OPEN, DoorState.UNLOCKED, DoorState.OFFLINE)


def _fold(told: dict[str, Any], found: Read) -> tuple[DoorState, datetime | None]:
    """The state, and since when if something told that. Alarms come first, then a door out of reach, then the leaf."""
    alarm, since = _alarm(told, found)
    if alarm:
        return alarm, since
    lock, held, since = _lock(told, found)
    if held:
        return (DoorState.HELD_OPEN if found.leaf == "open" else DoorState.HELD), since
    if not found.online:
        return DoorState.OFFLINE, None
    if found.leaf == "open":
        return DoorState.OPEN, None
    return {"locked": DoorState.LOCKED, "unlocked": DoorState.UNLOCKED}.get(lock, DoorState.UNKNOWN), None


def _alarm(told: dict[str, Any], found: Read) -> tuple[DoorState | None, datetime | None]:
    seen = found.wrong if found.wrong in _ALARMS and "over" not in told else None
    if "alarm" not in told:
        return (_ALARMS[seen], None) if seen else (None, None)
    word, _heard, since = told["alarm"]
    worst = DoorWord.FORCED if DoorWord.FORCED in (word, seen) else DoorWord.LEFT
    return _ALARMS[worst], datetime.fromisoformat(since)


def _lock(told: dict[str, Any], found: Read) -> tuple[str, bool, datetime | None]:
    """(locked or unlocked or "", whether it is held unlocked, since when it is)."""
    if "lock" in told:
        word, _heard, since = told["lock"]
        if word == DoorWord.HELD:
            return "unlocked", True, datetime.fromisoformat(since)
        if found.at is None or not _before(told["lock"], found.at):
            return "locked", False, None
    since = datetime.fromisoformat(told["unlocked"]) if "unlocked" in told else None
    held = since is not None and found.at is not None and found.at - since >= HELD_AFTER
    return found.lock, held, since
