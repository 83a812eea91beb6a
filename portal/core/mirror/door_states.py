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

from accessapi.doors import DoorEvent
from accessapi.overrides import States
from portal.core.mirror.models import DoorState, PassController
from portal.core.mirror.models.places import IS_READ_SOON
from portal.core.timers.clock import ClockTime, database_now
from tenants.models import Tenant

# Unlocked in every reading for so long is held unlocked, whoever did it: a single pass is over by then.
HELD_UNLOCKED_AFTER = timedelta(minutes=2)
# How often a quiet door is read; one that is not, the sooner the more lately that began.
USUAL_INTERVAL = timedelta(minutes=15)
SHORTEST_INTERVAL = timedelta(seconds=60)
# A reading that was due soon and could not be made is tried again after so long.
RETRY_INTERVAL = timedelta(seconds=30)
# Two readings at most so far apart have seen the change between them; further apart, nobody knows when it was.
MAX_UNSEEN = timedelta(minutes=2)
# A record this much older than a reading that shows the door shut tells of something that is over.
_SKEW = timedelta(minutes=2)

_ALARMS = {DoorEvent.FORCED_OPEN: DoorState.FORCED_OPEN, DoorEvent.LEFT_OPEN: DoorState.LEFT_OPEN}
LOUD_STATES = (DoorState.FORCED_OPEN, DoorState.LEFT_OPEN, DoorState.HELD_OPEN, DoorState.HELD)


@dataclass(frozen=True)
class DoorReading:
    """A reading in known words; "" for what it does not say in words that we know."""

    at: datetime | None
    leaf: str
    lock: str
    error: DoorEvent | None
    is_online: bool
    is_powered: bool

    @classmethod
    def from_status(cls, door: PassController, states: States) -> "DoorReading":
        return cls(
            door.status_as_of,
            states.leaf_state(door.door),
            states.lock_state(door.lock),
            states.event_of(door.errors),
            states.is_connected(door.cloud_com_status),
            states.is_powered(door.power_status),
        )


def apply_reading(tenant: Tenant, device_id: str, status: dict[str, Any], at: datetime) -> None:
    """Take over an answer of operation 26 that was asked for at `at`, unless a newer one is there already."""
    with transaction.atomic():
        for door in _lock_doors([device_id]):
            before = door.status_as_of
            if before is not None and before > at:
                continue
            catalogue = tenant.environment.catalogue
            door.status, door.status_as_of = status, at
            found = DoorReading.from_status(door, catalogue.states)
            # Of a door that was out of reach or unknown nobody saw when it came to be as it is.
            known_before = door.state not in (DoorState.OFFLINE, DoorState.UNKNOWN)
            is_seen = known_before and before is not None and at - before <= MAX_UNSEEN
            _drop_contradicted(door.told, found, at, is_seen)
            door.urgent = False
            _save_state(door, found, at, catalogue.limits.relock_delay, is_seen=is_seen)


def apply_event(
    tenant: Tenant, device_id: str, word: DoorEvent, *, at: datetime | None = None, content: str = ""
) -> bool:
    """The log (`at`: when the record says) or our own command (without) told something. False: it is known better.

    `content` is the record's text, by which the end of one trouble is told from that of another.
    """
    catalogue = tenant.environment.catalogue
    heard = database_now()
    with transaction.atomic():
        for door in _lock_doors([device_id]):
            found = DoorReading.from_status(door, catalogue.states)
            if at is not None and _is_known_better(door, found, word, at):
                return False
            since = min(at or heard, heard)
            _add_event(door.told, word, heard, since, content.lower())
            _save_state(door, found, since, catalogue.limits.relock_delay, is_seen=True)
            return True
    return False


def _add_event(told: dict[str, Any], word: DoorEvent, heard: datetime, since: datetime, content: str) -> None:
    """Keep what was told until a reading or a newer word contradicts it."""
    if word in (DoorEvent.HELD_UNLOCKED, DoorEvent.LOCKED):
        told.pop("unlocked", None)
        told.pop("passing", None)
        told["lock"] = [str(word), heard.isoformat(), since.isoformat()]
    elif word is DoorEvent.PASSING:
        if told.get("lock", [""])[0] == DoorEvent.LOCKED:
            del told["lock"]
        told["passing"] = heard.isoformat()
    elif word is DoorEvent.CONNECTION_LOST:
        told.pop("back", None)
        told["lost"] = told.get("lost", {}) | {content: [heard.isoformat(), since.isoformat()]}
    elif word is DoorEvent.CONNECTION_RESTORED:
        left = {text: lost for text, lost in told.pop("lost", {}).items() if text != content}
        told.update({"lost": left} if left else {"back": heard.isoformat()})
    elif word is DoorEvent.PROBLEM_OVER:
        told.pop("alarm", None)
        told["over"] = heard.isoformat()
    else:
        told.pop("over", None)
        told["alarm"] = [str(word), heard.isoformat(), since.isoformat()]


def request_reading(device_id: str, *, unless_read_after: datetime | None = None, is_urgent: bool = True) -> bool:
    """Have a door read next; urgent: at once, before those whose turn it is. False: there is no such door, or it was
    read since, or is read in a moment anyway.
    """
    rows = PassController.objects.filter(device_id=device_id)
    if unless_read_after is not None:
        rows = rows.filter(status_as_of__lt=unless_read_after).exclude(
            IS_READ_SOON, look_at__lte=ClockTime() + RETRY_INTERVAL
        )
    return bool(rows.update(look_at=ClockTime(), **({"urgent": True} if is_urgent else {})))


def postpone_missed() -> None:
    """Try again later with the doors whose reading was due in a moment and could not be made.

    One that should have locked by now is not said to be unlocked any longer, nor to be locked: nobody knows.
    """
    now = database_now()
    late = PassController.objects.filter(IS_READ_SOON, look_at__lte=now)
    unsure = {"state": DoorState.UNKNOWN, "state_since": now, "is_since_seen": False}
    late.filter(state=DoorState.PASSING).update(urgent=True, look_at=now + RETRY_INTERVAL, **unsure)
    late.update(look_at=now + RETRY_INTERVAL)


def postpone_door(device_id: str) -> None:
    """Do not ask about this door before its next turn: the service does not know it."""
    PassController.objects.filter(device_id=device_id).update(look_at=database_now() + USUAL_INTERVAL, urgent=False)


def _lock_doors(device_ids: list[str]) -> Iterable[PassController]:
    return PassController.objects.select_for_update(no_key=True, of=("self",)).filter(device_id__in=device_ids)


def _is_known_better(door: PassController, found: DoorReading, word: DoorEvent, at: datetime) -> bool:
    """Whether something newer contradicts a record of that moment, which the log told late."""
    if word is DoorEvent.HELD_UNLOCKED:
        return _is_locked_since(door, found, at)
    if word in (DoorEvent.CONNECTION_LOST, DoorEvent.CONNECTION_RESTORED):
        since = [datetime.fromisoformat(lost[1]) for lost in door.told.get("lost", {}).values()]
        is_old = found.at is not None and found.is_online and at < found.at - _SKEW
        return is_old if word is DoorEvent.CONNECTION_LOST else (max(since) > at if since else found.is_online)
    return found.at is not None and found.leaf == "closed" and at < found.at - _SKEW


def _is_locked_since(door: PassController, found: DoorReading, at: datetime) -> bool:
    """Whether a hold of that moment has ended by what a later command or reading told."""
    told = door.told.get("lock")
    commanded = told is not None and datetime.fromisoformat(told[2]) >= at
    return commanded or (found.lock == "locked" and found.at is not None and found.at > at)


def _drop_contradicted(told: dict[str, Any], found: DoorReading, at: datetime, is_seen: bool) -> None:
    """Drop what a reading contradicts; keep since when it has shown the door unlocked, and whether that was seen."""
    for name in ("over", "back"):
        if name in told and datetime.fromisoformat(told[name]) <= at:
            del told[name]
    if found.is_online:
        left = {text: lost for text, lost in told.pop("lost", {}).items() if datetime.fromisoformat(lost[0]) > at}
        told.update({"lost": left} if left else {})
    if found.lock == "unlocked":
        told.setdefault("unlocked", [at.isoformat(), is_seen])
    elif "passing" not in told or datetime.fromisoformat(told["passing"]) <= at:
        told.pop("unlocked", None)
        told.pop("passing", None)
    if found.lock == "locked" and _is_not_after(told.get("lock"), at):
        told.pop("lock", None)
    if found.leaf == "closed" and not found.error and _is_not_after(told.get("alarm"), at):
        told.pop("alarm", None)


def _is_not_after(told: list[str] | None, at: datetime) -> bool:
    return told is not None and datetime.fromisoformat(told[1]) <= at


def _save_state(door: PassController, found: DoorReading, at: datetime, relock: timedelta, *, is_seen: bool) -> None:
    """Write the state that follows, since when, and when to look again. `is_seen`: what changed, changed at `at`."""
    state, since, is_since_seen = _derive_state(door.told, found, relock)
    now = database_now()
    if state != door.state:
        door.state, door.state_since = state, since or at
        door.is_since_seen = is_since_seen if since is not None else is_seen
    elif since is not None and is_since_seen and not door.is_since_seen:
        door.state_since, door.is_since_seen = since, True
    door.attention = state in ATTENTION_STATES or bool(door.errors) or not found.is_powered
    door.known_at = now
    door.urgent = door.urgent or (state == DoorState.PASSING and "passing" in door.told)
    door.look_at = now + _next_interval(DoorState(state), now - (door.state_since or now), relock)
    door.save(update_fields=_UPDATED_FIELDS)


def _next_interval(state: DoorState, age: timedelta, relock: timedelta) -> timedelta:
    """Return how long a door's reading is good for: one that is to lock by itself is read when it should have."""
    if state in (DoorState.LOCKED, DoorState.OFFLINE, DoorState.UNKNOWN):
        return USUAL_INTERVAL
    if state == DoorState.PASSING:
        return max(relock - age, timedelta(seconds=1))
    return min(max(age / 4, SHORTEST_INTERVAL), USUAL_INTERVAL)


_UPDATED_FIELDS = (
    "status", "status_as_of", "state", "state_since", "is_since_seen", "attention", "told", "known_at", "look_at",
    "urgent",
)  # fmt: skip
ATTENTION_STATES = (*LOUD_STATES, DoorState.OPEN, DoorState.UNLOCKED, DoorState.OFFLINE)


def _derive_state(
    told: dict[str, Any], found: DoorReading, relock: timedelta
) -> tuple[DoorState, datetime | None, bool]:
    """The state, since when if something told that, and whether the change was seen then. Alarms come first, then a
    door out of reach, then the leaf.
    """
    alarm, since = _derive_alarm(told, found)
    if alarm:
        return alarm, since, True
    lock, is_held, since, is_seen = _derive_lock(told, found)
    if is_held:
        return (DoorState.HELD_OPEN if found.leaf == "open" else DoorState.HELD), since, is_seen
    if lost := told.get("lost"):
        return DoorState.OFFLINE, min(datetime.fromisoformat(each[1]) for each in lost.values()), True
    if "back" in told:
        return DoorState.UNKNOWN, None, False
    if not found.is_online:
        return DoorState.OFFLINE, None, False
    if found.leaf == "open":
        return DoorState.OPEN, None, False
    if lock == "passing" or (lock == "unlocked" and since and found.at and found.at < since + relock):
        return DoorState.PASSING, since, is_seen
    return {"locked": DoorState.LOCKED, "unlocked": DoorState.UNLOCKED}.get(lock, DoorState.UNKNOWN), since, is_seen


def _derive_alarm(told: dict[str, Any], found: DoorReading) -> tuple[DoorState | None, datetime | None]:
    seen = found.error if found.error in _ALARMS and "over" not in told else None
    if "alarm" not in told:
        return (_ALARMS[seen], None) if seen else (None, None)
    word, _heard, since = told["alarm"]
    worst = DoorEvent.FORCED_OPEN if DoorEvent.FORCED_OPEN in (word, seen) else DoorEvent.LEFT_OPEN
    return _ALARMS[worst], datetime.fromisoformat(since)


def _derive_lock(told: dict[str, Any], found: DoorReading) -> tuple[str, bool, datetime | None, bool]:
    """(locked, unlocked, passing or "", whether it is held unlocked, since when it is, whether that was seen)."""
    if "lock" in told:
        word, _heard, since = told["lock"]
        if word == DoorEvent.HELD_UNLOCKED:
            return "unlocked", True, datetime.fromisoformat(since), True
        if found.at is None or not _is_not_after(told["lock"], found.at):
            return "locked", False, None, False
    if "passing" in told:
        since, is_seen = datetime.fromisoformat(told["passing"]), True
        if found.at is None or found.at < since:
            return "passing", False, since, is_seen
    elif "unlocked" in told:
        since, is_seen = datetime.fromisoformat(told["unlocked"][0]), told["unlocked"][1]
    else:
        return found.lock, False, None, False
    is_held = found.lock == "unlocked" and found.at is not None and found.at - since >= HELD_UNLOCKED_AFTER
    return found.lock, is_held, since, is_seen
