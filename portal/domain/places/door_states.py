"""Derive the state of a door from its last reading and from later log records and portal commands.

The newest information wins. An alarm stays active until a reading shows the door closed or a record says that it is
over. The state is stored with each change, so that pages and banners read one column.

A log record counts from the moment when the portal received it. Otherwise, a difference between the service's clock
and ours could make an old record newer than a reading.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from accessapi.doors import DoorEvent
from accessapi.overrides import States
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.places.models import IS_READ_SOON, DoorState, PassController
from tenants.models import Tenant

# A door that all readings show unlocked for this long is held unlocked: a single pass is over by then.
HELD_UNLOCKED_AFTER = timedelta(minutes=2)
# How often a locked or unreachable door is read. Other doors are read more often, most often just after a change.
USUAL_INTERVAL = timedelta(minutes=15)
SHORTEST_INTERVAL = timedelta(seconds=60)
# A reading that was due soon and failed is tried again after this time.
RETRY_INTERVAL = timedelta(seconds=30)
# The moment of a change is known only if the two readings around it are at most this far apart.
MAX_UNSEEN = timedelta(minutes=2)
# An alarm record that is this much older than a reading of the closed door is out of date.
_SKEW = timedelta(minutes=2)

_ALARMS = {DoorEvent.FORCED_OPEN: DoorState.FORCED_OPEN, DoorEvent.LEFT_OPEN: DoorState.LEFT_OPEN}
LOUD_STATES = (DoorState.FORCED_OPEN, DoorState.LEFT_OPEN, DoorState.HELD_OPEN, DoorState.HELD)


@dataclass(frozen=True)
class DoorReading:
    """A reading in the portal's own words; "" for a word that the portal does not know."""

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
    """Store a response of operation 26 that was requested at `at`, unless a newer one is stored already."""
    with transaction.atomic():
        for door in _lock_doors([device_id]):
            before = door.status_as_of
            if before is not None and before > at:
                continue
            catalogue = tenant.environment.catalogue
            door.status, door.status_as_of = status, at
            found = DoorReading.from_status(door, catalogue.states)
            # For a door that was offline or unknown, the moment of the change is not known.
            known_before = door.state not in (DoorState.OFFLINE, DoorState.UNKNOWN)
            is_seen = known_before and before is not None and at - before <= MAX_UNSEEN
            _drop_contradicted(door.events, found, at, is_seen)
            door.urgent = False
            _save_state(door, found, at, catalogue.limits.relock_delay, is_seen=is_seen)


def apply_event(
    tenant: Tenant, device_id: str, word: DoorEvent, *, at: datetime | None = None, content: str = ""
) -> bool:
    """Store an event from the log (`at`: the record's time) or from a portal command (no `at`).

    Return False when newer information contradicts it, or when there is no such door. `content` is the record's text:
    it identifies which of several connection problems has ended.
    """
    catalogue = tenant.environment.catalogue
    now = database_now()
    with transaction.atomic():
        for door in _lock_doors([device_id]):
            found = DoorReading.from_status(door, catalogue.states)
            if at is not None and _is_known_better(door, found, word, at):
                return False
            since = min(at or now, now)
            _add_event(door.events, word, now, since, content.lower())
            _save_state(door, found, since, catalogue.limits.relock_delay, is_seen=True)
            return True
    return False


def _add_event(events: dict[str, Any], word: DoorEvent, now: datetime, since: datetime, content: str) -> None:
    """Store an event, which is kept until a reading or a newer event contradicts it."""
    if word in (DoorEvent.HELD_UNLOCKED, DoorEvent.LOCKED):
        events.pop("unlocked", None)
        events.pop("passing", None)
        events["lock"] = [str(word), now.isoformat(), since.isoformat()]
    elif word is DoorEvent.PASSING:
        if events.get("lock", [""])[0] == DoorEvent.LOCKED:
            del events["lock"]
        events["passing"] = now.isoformat()
    elif word is DoorEvent.CONNECTION_LOST:
        events.pop("back", None)
        events["lost"] = events.get("lost", {}) | {content: [now.isoformat(), since.isoformat()]}
    elif word is DoorEvent.CONNECTION_RESTORED:
        left = {text: lost for text, lost in events.pop("lost", {}).items() if text != content}
        events.update({"lost": left} if left else {"back": now.isoformat()})
    elif word is DoorEvent.PROBLEM_OVER:
        events.pop("alarm", None)
        events["over"] = now.isoformat()
    else:
        events.pop("over", None)
        events["alarm"] = [str(word), now.isoformat(), since.isoformat()]


def request_reading(device_id: str, *, unless_read_after: datetime | None = None, is_urgent: bool = True) -> bool:
    """Schedule a reading of a door; an urgent one happens at once, before the doors that are due.

    Return False when there is no such door, it was read after `unless_read_after`, or a reading is due in a moment.
    """
    rows = PassController.objects.filter(device_id=device_id)
    if unless_read_after is not None:
        rows = rows.filter(status_as_of__lt=unless_read_after).exclude(
            IS_READ_SOON, look_at__lte=ClockTime() + RETRY_INTERVAL
        )
    return bool(rows.update(look_at=ClockTime(), **({"urgent": True} if is_urgent else {})))


def postpone_missed() -> None:
    """Postpone the doors whose reading was due soon and failed.

    The state of a door that should have relocked by now becomes unknown: it may be locked or unlocked.
    """
    now = database_now()
    late = PassController.objects.filter(IS_READ_SOON, look_at__lte=now)
    unsure = {"state": DoorState.UNKNOWN, "state_since": now, "is_since_seen": False}
    late.filter(state=DoorState.PASSING).update(urgent=True, look_at=now + RETRY_INTERVAL, **unsure)
    late.update(look_at=now + RETRY_INTERVAL)


def postpone_door(device_id: str) -> None:
    """Postpone the reading of a door that the service does not know until its next regular turn."""
    PassController.objects.filter(device_id=device_id).update(look_at=database_now() + USUAL_INTERVAL, urgent=False)


def _lock_doors(device_ids: list[str]) -> Iterable[PassController]:
    return PassController.objects.select_for_update(no_key=True, of=("self",)).filter(device_id__in=device_ids)


def _is_known_better(door: PassController, found: DoorReading, word: DoorEvent, at: datetime) -> bool:
    """Return whether newer information contradicts a late record of the moment `at`."""
    if word is DoorEvent.HELD_UNLOCKED:
        return _is_locked_since(door, found, at)
    if word in (DoorEvent.CONNECTION_LOST, DoorEvent.CONNECTION_RESTORED):
        since = [datetime.fromisoformat(lost[1]) for lost in door.events.get("lost", {}).values()]
        is_old = found.at is not None and found.is_online and at < found.at - _SKEW
        return is_old if word is DoorEvent.CONNECTION_LOST else (max(since) > at if since else found.is_online)
    return found.at is not None and found.leaf == "closed" and at < found.at - _SKEW


def _is_locked_since(door: PassController, found: DoorReading, at: datetime) -> bool:
    """Return whether a later command or reading shows that a hold of the moment `at` has ended."""
    events = door.events.get("lock")
    is_commanded = events is not None and datetime.fromisoformat(events[2]) >= at
    return is_commanded or (found.lock == "locked" and found.at is not None and found.at > at)


def _drop_contradicted(events: dict[str, Any], found: DoorReading, at: datetime, is_seen: bool) -> None:
    """Remove stored events that a reading contradicts, and store since when readings show the door unlocked."""
    for name in ("over", "back"):
        if name in events and datetime.fromisoformat(events[name]) <= at:
            del events[name]
    if found.is_online:
        left = {text: lost for text, lost in events.pop("lost", {}).items() if datetime.fromisoformat(lost[0]) > at}
        events.update({"lost": left} if left else {})
    if found.lock == "unlocked":
        events.setdefault("unlocked", [at.isoformat(), is_seen])
    elif "passing" not in events or datetime.fromisoformat(events["passing"]) <= at:
        events.pop("unlocked", None)
        events.pop("passing", None)
    if found.lock == "locked" and _is_not_after(events.get("lock"), at):
        events.pop("lock", None)
    if found.leaf == "closed" and not found.error and _is_not_after(events.get("alarm"), at):
        events.pop("alarm", None)


def _is_not_after(events: list[str] | None, at: datetime) -> bool:
    return events is not None and datetime.fromisoformat(events[1]) <= at


def _save_state(door: PassController, found: DoorReading, at: datetime, relock: timedelta, *, is_seen: bool) -> None:
    """Save the derived state, its start and the next reading. `is_seen`: a change happened at `at`."""
    state, since, is_since_seen = _derive_state(door.events, found, relock)
    now = database_now()
    if state != door.state:
        door.state, door.state_since = state, since or at
        door.is_since_seen = is_since_seen if since is not None else is_seen
    elif since is not None and is_since_seen and not door.is_since_seen:
        door.state_since, door.is_since_seen = since, True
    door.attention = state in ATTENTION_STATES or bool(door.errors) or not found.is_powered
    door.known_at = now
    door.urgent = door.urgent or (state == DoorState.PASSING and "passing" in door.events)
    door.look_at = now + _next_interval(DoorState(state), now - (door.state_since or now), relock)
    door.save(update_fields=_UPDATED_FIELDS)


def _next_interval(state: DoorState, age: timedelta, relock: timedelta) -> timedelta:
    """Return the time until the next reading; a door that relocks automatically is read when it should be locked."""
    if state in (DoorState.LOCKED, DoorState.OFFLINE, DoorState.UNKNOWN):
        return USUAL_INTERVAL
    if state == DoorState.PASSING:
        return max(relock - age, timedelta(seconds=1))
    return min(max(age / 4, SHORTEST_INTERVAL), USUAL_INTERVAL)


_UPDATED_FIELDS = (
    "status", "status_as_of", "state", "state_since", "is_since_seen", "attention", "events", "known_at", "look_at",
    "urgent",
)  # fmt: skip
ATTENTION_STATES = (*LOUD_STATES, DoorState.OPEN, DoorState.UNLOCKED, DoorState.OFFLINE)


def _derive_state(
    events: dict[str, Any], found: DoorReading, relock: timedelta
) -> tuple[DoorState, datetime | None, bool]:
    """Return the state, its start (None: not known), and whether the change was observed at that moment.

    Alarms have priority, then a held door, an unreachable door, and an open door.
    """
    alarm, since = _derive_alarm(events, found)
    if alarm:
        return alarm, since, True
    lock, is_held, since, is_seen = _derive_lock(events, found)
    if is_held:
        return (DoorState.HELD_OPEN if found.leaf == "open" else DoorState.HELD), since, is_seen
    if lost := events.get("lost"):
        return DoorState.OFFLINE, min(datetime.fromisoformat(each[1]) for each in lost.values()), True
    if "back" in events:
        return DoorState.UNKNOWN, None, False
    if not found.is_online:
        return DoorState.OFFLINE, None, False
    if found.leaf == "open":
        return DoorState.OPEN, None, False
    if lock == "passing" or (lock == "unlocked" and since and found.at and found.at < since + relock):
        return DoorState.PASSING, since, is_seen
    return {"locked": DoorState.LOCKED, "unlocked": DoorState.UNLOCKED}.get(lock, DoorState.UNKNOWN), since, is_seen


def _derive_alarm(events: dict[str, Any], found: DoorReading) -> tuple[DoorState | None, datetime | None]:
    error = found.error if found.error in _ALARMS and "over" not in events else None
    if "alarm" not in events:
        return (_ALARMS[error], None) if error else (None, None)
    word, _received_at, since = events["alarm"]
    worst = DoorEvent.FORCED_OPEN if DoorEvent.FORCED_OPEN in (word, error) else DoorEvent.LEFT_OPEN
    return _ALARMS[worst], datetime.fromisoformat(since)


def _derive_lock(events: dict[str, Any], found: DoorReading) -> tuple[str, bool, datetime | None, bool]:
    """Return (lock, is held unlocked, start, start was observed); lock is locked, unlocked, passing or ""."""
    if "lock" in events:
        word, _received_at, since = events["lock"]
        if word == DoorEvent.HELD_UNLOCKED:
            return "unlocked", True, datetime.fromisoformat(since), True
        if found.at is None or not _is_not_after(events["lock"], found.at):
            return "locked", False, None, False
    if "passing" in events:
        since, is_seen = datetime.fromisoformat(events["passing"]), True
        if found.at is None or found.at < since:
            return "passing", False, since, is_seen
    elif "unlocked" in events:
        since, is_seen = datetime.fromisoformat(events["unlocked"][0]), events["unlocked"][1]
    else:
        return found.lock, False, None, False
    is_held = found.lock == "unlocked" and found.at is not None and found.at - since >= HELD_UNLOCKED_AFTER
    return found.lock, is_held, since, is_seen
