"""Derive the state of each key of a key box from the last reading and the newest log record.

The newer of the two counts. A reading that contradicts an older record sets `differs`: a newer record may be late or
lost. A record counts from its own time or from when the portal received it, the earlier of the two. Otherwise a fast
clock of the service could make a record newer than later readings. The status of an offline box does not count, because
it is only the last status that the service knew.

Records of a key arrive late and in any order. So each reading applies the records of the last days again, and each
writer locks the row of the box first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db import transaction

from accessapi.keys import KeyEvent
from accessapi.overrides import States
from accessapi.resources import received
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.places.models import Key, KeyBox, KeyState
from tenants.models import Tenant

# How often a box is read, and how soon after a reading and the log contradict each other. The longer they do, the less
# useful is another reading.
USUAL_INTERVAL = timedelta(minutes=30)
CONFLICT_INTERVAL = timedelta(minutes=5)
# How far back a reading applies records again, and how many of one box at most.
RECORDS_SPAN = timedelta(days=2)
# The log has whole seconds, so an event may have happened up to one second after its record's time.
_LOG_PRECISION = timedelta(seconds=1)
_MAX_RECORDS = 1_000

_UPDATED_FIELDS = (
    "unit_name", "restriction", "state", "since", "differs", "known_at", "holder_id", "holder_name", "read_state",
    "read_since", "read_saw_change", "read_at", "lock", "wrong", "raw", "record_state", "record_at",
    "record_received_at", "record_id", "person_id", "person_name",
)  # fmt: skip
_STATES = {KeyEvent.TAKEN: KeyState.OUT, KeyEvent.RETURNED: KeyState.IN}


class KeyRecord(Protocol):
    """A record of the log about keys: its texts, the keys as `units`, and the person as the service's member."""

    at: datetime
    history_id: str
    device_id: str
    units: Any
    member_id: str
    member_name: str

    @property
    def texts(self) -> list[str]: ...


RecordFinder = Callable[[str, datetime, int], Iterable[KeyRecord]]
_finders: list[RecordFinder] = []


def register_records(find: RecordFinder) -> None:
    """Register `find(key_device_id, since, most)`, which returns a box's newest records about keys, oldest first."""
    _finders.append(find)


def apply_reading(tenant: Tenant, key_device_id: str, status: dict[str, Any], at: datetime) -> None:
    """Store a response of operation 28 that was requested at `at`, unless a newer one is stored already."""
    states = tenant.environment.catalogue.states
    with transaction.atomic():
        for box in _lock_boxes([key_device_id]):
            if box.status_as_of is not None and box.status_as_of > at:
                continue
            box.status, box.status_as_of = status, at
            keys = _current_keys(box)
            if states.is_connected(box.cloud_com_status):
                _apply_status(keys, status, states, at)
            for find in _finders:
                _apply_records(keys, find(key_device_id, at - RECORDS_SPAN, _MAX_RECORDS), states)
            _save_keys(keys)
            box.look_at = at + _next_interval(keys, at)
            box.save(update_fields=["status", "status_as_of", "look_at"])


def on_histories(tenant: Tenant, *, histories: Sequence[KeyRecord]) -> None:
    """Apply new log records to keys. A listener of the mirror, called inside the transaction that stores them."""
    of_box: dict[str, list[KeyRecord]] = {}
    for record in histories:
        if record.units and record.device_id:
            of_box.setdefault(record.device_id, []).append(record)
    for box in _lock_boxes(of_box):
        keys = _current_keys(box)
        records = sorted(of_box[box.key_device_id], key=lambda record: record.at)
        _apply_records(keys, records, tenant.environment.catalogue.states)
        soon = database_now() + CONFLICT_INTERVAL
        if _save_keys(keys) and box.look_at is not None and box.look_at > soon:
            KeyBox.objects.filter(pk=box.pk).update(look_at=soon)


def on_key_boxes(tenant: Tenant) -> None:
    """Add and delete rows of keys so that they match the list of key boxes, which was just read."""
    listed = {(box.pk, number) for box in KeyBox.objects.only("pk", "units") for number, _, _ in _units(box.units)}
    known = set(Key.objects.values_list("key_box_id", "unit_no"))
    changed = {box_id for box_id, _ in listed ^ known}
    named = Key.objects.select_related("key_box").only("unit_no", "unit_name", "key_box__units")
    changed |= {key.key_box_id for key in named if (key.unit_no, key.unit_name) not in _names(key.key_box)}
    for box in KeyBox.objects.select_for_update(no_key=True).filter(pk__in=changed).order_by("key_device_id"):
        _save_keys(_current_keys(box))


def postpone_box(key_device_id: str) -> None:
    """Postpone the reading of a box, because the service does not know it or sends no status."""
    KeyBox.objects.filter(key_device_id=key_device_id).update(look_at=ClockTime() + USUAL_INTERVAL)


def _lock_boxes(key_device_ids: Iterable[str]) -> list[KeyBox]:
    rows = KeyBox.objects.select_for_update(no_key=True).filter(key_device_id__in=list(key_device_ids))
    return list(rows.order_by("key_device_id"))


def _units(units: Any) -> list[tuple[str, str, bool | None]]:
    """Return (number, name, restriction) of a box's units, in the service's order, each number once."""
    found = {}
    for number, unit in _numbered_units(units):
        restricted = unit.get("restriction")
        found[number] = str(unit.get("unit_name") or ""), restricted if isinstance(restricted, bool) else None
    return [(number, name, restricted) for number, (name, restricted) in found.items()]


def _numbered_units(units: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (number, unit) for each of a box's units that has a number."""
    for unit in received.as_list(units):
        if isinstance(unit, dict) and unit.get("unit_no") not in (None, ""):
            yield str(received.unit_number(unit["unit_no"])), unit


def _names(box: KeyBox) -> set[tuple[str, str]]:
    return {(number, name) for number, name, _ in _units(box.units)}


def _current_keys(box: KeyBox) -> dict[str, Key]:
    """Return the rows of a box's keys by number, created and renamed as needed. Delete rows without a unit."""
    units = _units(box.units)
    if not units:  # some services may send units only in the status
        units = _units(box.status.get("units_status"))
    keys = {key.unit_no: key for key in box.keys.all()}
    box.keys.exclude(unit_no__in=[number for number, _, _ in units]).delete()
    current = {}
    for number, name, restricted in units:
        key = current[number] = keys.get(number) or Key(key_box=box, unit_no=number)
        key.unit_name, key.restriction = name, restricted
    return current


def _apply_status(keys: dict[str, Key], status: dict[str, Any], states: States, at: datetime) -> None:
    for number, unit in _numbered_units(status.get("units_status")):
        key = keys.get(number)
        if key is None:
            continue
        key.raw = unit
        if key.errors:  # always stored as a list, because lists search for errors there
            key.raw = unit | {"errors": key.errors}
        key.wrong = states.is_wrong_key([key.word, *key.errors])
        state = "" if key.wrong else states.key_state(_text(unit.get("key")))
        if state != key.read_state or key.read_since is None:
            key.read_since, key.read_saw_change = at, bool(state and key.read_state)
        key.read_state, key.read_at = state, at
        key.lock = states.lock_state(_text(unit.get("lock")))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _apply_records(keys: dict[str, Key], records: Iterable[KeyRecord], states: States) -> None:
    """Store for each key its newest record of taking or return. With equal times, the higher ID counts."""
    now = database_now()
    for record in records:
        word = states.key_event_of(record.texts)
        for number, _, _ in _units(record.units) if word is not None else ():
            key = keys.get(number)
            if key is None or word is None or not _is_newer(record, key):
                continue
            key.record_state, key.record_at, key.record_id = _STATES[word], record.at, record.history_id
            key.record_received_at = now
            key.person_id, key.person_name = record.member_id, record.member_name


def _is_newer(record: KeyRecord, key: Key) -> bool:
    return key.record_at is None or (record.at, record.history_id) > (key.record_at, key.record_id)


def _save_keys(keys: dict[str, Key]) -> bool:
    """Derive and save the state of each key. Return whether a reading and the log contradict each other for any key."""
    for key in keys.values():
        _derive_state(key)
    new = [key for key in keys.values() if key.pk is None]
    Key.objects.bulk_update([key for key in keys.values() if key.pk is not None], _UPDATED_FIELDS, batch_size=500)
    Key.objects.bulk_create(new, batch_size=500)
    return any(key.differs for key in keys.values())


def _next_interval(keys: dict[str, Key], at: datetime) -> timedelta:
    """Return the time until the next reading.

    It is as long as the newest contradiction has lasted, between CONFLICT_INTERVAL and USUAL_INTERVAL.
    """
    began = [max(filter(None, (key.read_since, _event_at(key)))) for key in keys.values() if key.differs]
    return min(max(at - max(began), CONFLICT_INTERVAL), USUAL_INTERVAL) if began else USUAL_INTERVAL


def _event_at(key: Key) -> datetime | None:
    """Return the time of the newest record, at most when it was received: the service's clock may be ahead of ours."""
    return min(key.record_at, key.record_received_at) if key.record_at and key.record_received_at else None


def _is_reading_later(key: Key) -> bool:
    """Return whether the last reading was certainly made after the event of the newest record."""
    if key.read_at is None or key.record_at is None or key.record_received_at is None:
        return False
    return key.read_at >= min(key.record_at + _LOG_PRECISION, key.record_received_at)


def _derive_state(key: Key) -> None:
    """Set the state of a key from the last reading and the newest record."""
    event_at = _event_at(key)
    reads = bool(key.read_state) and key.read_at is not None
    by_reading = reads and (event_at is None or _is_reading_later(key))
    key.differs = by_reading and event_at is not None and key.read_state != key.record_state
    agrees = event_at is not None and not key.differs
    if by_reading and not agrees:
        key.state, key.since = KeyState(key.read_state), key.read_since
    elif event_at is not None and not (key.wrong and key.record_state == KeyState.IN and _is_reading_later(key)):
        key.state, key.since = KeyState(key.record_state), event_at
    else:
        key.state, key.since = KeyState.UNKNOWN, None
    key.known_at = max((at for at in (key.read_at, key.record_received_at) if at is not None), default=None)
    holds = key.state == KeyState.OUT and key.record_state == KeyState.OUT
    key.holder_id, key.holder_name = (key.person_id, key.person_name) if holds else ("", "")
