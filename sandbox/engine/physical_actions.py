"""Actions of people in the building: pass doors or force them, cut lines. Everything is logged.

All functions work at `at`, by default now by the tenant's clock: enter `behaviour.using_clock_of` first. They raise
ApiError (40401) for a device that does not exist.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from accessapi.permissions import AreaPlace
from sandbox import behaviour, clock
from sandbox.engine import activity_log, doors, recognition, steps
from sandbox.engine.activity_log import Category, Status
from sandbox.engine.borrowing import return_key, take_key
from sandbox.engine.device_outcomes import NO_POWER, DeviceOutcome, Verdict
from sandbox.engine.recognition import NotRecognised
from sandbox.errors import not_found
from sandbox.service.models import History, KeyBox, PassController, Tenant

__all__ = [
    "close_door",
    "force_door",
    "leave_door_open",
    "return_key",
    "set_power_and_connection",
    "show_credential",
    "take_key",
]


def show_credential(tenant: Tenant, device_id: str, kind: str, value: str, at: datetime | None = None) -> DeviceOutcome:
    """Show `value` at a door, which opens for `door_open_seconds` if the person is admitted.

    `value` is a card's data, a QR code's text, a one-time code's text, or for a face the member_id (kinds: card, qr,
    one_time, face).
    """
    steps.advance(tenant)
    at = at or clock.now()
    with transaction.atomic():
        door = _door(tenant, device_id)
        if not door.has_power:
            return NO_POWER
        try:
            person = recognition.recognise(tenant, kind, value, at)
        except NotRecognised as refusal:
            return _record_not_recognised(tenant, door, refusal, recognition.unknown_person_entry(kind, value), at)
        verdict = Verdict.from_decision(person.decide(tenant, AreaPlace(door.area.area_id), at))
        if verdict.is_allowed:
            _open_door(door, at, behaviour.behaviour_of(tenant.tenant_id).door_open_seconds)
        passed = "Exit" if door.in_out == "out" else "Entry"
        history = _write(
            door,
            at,
            Category.NORMAL if verdict.is_allowed else Category.WARNING,
            Status.OCCUR,
            passed if verdict.is_allowed else verdict.reason,
            person.record_entry(),
        )
    return DeviceOutcome(verdict.is_allowed, verdict.rule, verdict.reason, person, history)


def force_door(tenant: Tenant, device_id: str, at: datetime | None = None) -> History | None:
    """Break a door open; it stays open until `close_door`. Return the record; None if the door has no power."""
    return _keep_door_open(tenant, device_id, at, is_forced=True)


def leave_door_open(tenant: Tenant, device_id: str, at: datetime | None = None) -> History | None:
    """Keep a door open too long, until `close_door`. Return the record; None if the door has no power."""
    return _keep_door_open(tenant, device_id, at, is_forced=False)


def close_door(tenant: Tenant, device_id: str, at: datetime | None = None) -> History | None:
    """Close a door. Return the record if that ends a problem of the door."""
    at = at or clock.now()
    with transaction.atomic():
        door = _door(tenant, device_id)
        problem = doors.problem(door)
        PassController.objects.filter(pk=door.pk).update(opened_at=None, closes_at=None, is_forced=False)
        if not problem or not door.has_power:
            return None
        category, content = _PROBLEMS[problem]
        return _write(door, at, category, Status.RESTORE, content)


def set_power_and_connection(
    tenant: Tenant,
    device_id: str,
    *,
    has_power: bool | None = None,
    is_connected: bool | None = None,
    at: datetime | None = None,
) -> list[History]:
    """Cut or restore a device's power, its connection or both. Return a record for each that changed.

    The service knows at once that it lost a device. The device sends everything else after reconnecting, also the
    decisions that it made offline.
    """
    at = at or clock.now()
    with transaction.atomic():
        device = _device(tenant, device_id)
        was_in_reach = device.is_reachable
        wanted = {"has_power": has_power, "is_connected": is_connected}
        changes = {name: on for name, on in wanted.items() if on is not None and on != getattr(device, name)}
        for name, on in changes.items():
            setattr(device, name, on)
        if changes:
            device.save(update_fields=list(changes))
        held_by = "" if was_in_reach or device.is_reachable else device_id
        found = [
            activity_log.write_record(
                tenant,
                at,
                category=Category.ERROR,
                status=Status.RESTORE if on else Status.OCCUR,
                content=_LINES[name],
                device=activity_log.device_entry(device),
                held_by=held_by,
            )
            for name, on in changes.items()
        ]
        if device.is_reachable:
            activity_log.release_held_back(tenant, device_id, at)
    return found


_PROBLEMS = {
    "forced_open": (Category.EMERGENCY, activity_log.DOOR_FORCED),
    "open_too_long": (Category.WARNING, activity_log.DOOR_LEFT_OPEN),
}
_LINES = {"has_power": activity_log.POWER_CUT, "is_connected": activity_log.CONNECTION_LOST}


def _device(tenant: Tenant, device_id: str) -> PassController | KeyBox:
    doors = PassController.objects.select_for_update(no_key=True, of=["self"]).select_related("area")
    boxes = KeyBox.objects.select_for_update(no_key=True)
    found = (
        doors.filter(tenant=tenant, device_id=device_id).first()
        or boxes.filter(tenant=tenant, key_device_id=device_id).first()
    )
    if found is None:
        raise not_found("device_id")
    return found


def _door(tenant: Tenant, device_id: str) -> PassController:
    device = _device(tenant, device_id)
    if not isinstance(device, PassController):
        raise not_found("device_id")
    device.tenant = tenant
    return device


def _open_door(door: PassController, at: datetime, seconds: float) -> None:
    # A door with a problem stays open if a person walks through.
    if not doors.problem(door):
        closes_at = at + timedelta(seconds=seconds)
        PassController.objects.filter(pk=door.pk).update(opened_at=at, closes_at=closes_at, is_forced=False)


def _keep_door_open(tenant: Tenant, device_id: str, at: datetime | None, *, is_forced: bool) -> History | None:
    at = at or clock.now()
    with transaction.atomic():
        door = _door(tenant, device_id)
        PassController.objects.filter(pk=door.pk).update(opened_at=at, closes_at=None, is_forced=is_forced)
        if not door.has_power:
            return None
        category, content = _PROBLEMS["forced_open" if is_forced else "open_too_long"]
        return _write(door, at, category, Status.OCCUR, content)


def _record_not_recognised(
    tenant: Tenant, door: PassController, refusal: NotRecognised, nobody: dict[str, str], at: datetime
) -> DeviceOutcome:
    verdict = Verdict.from_rule(refusal.rule)
    member = refusal.person.record_entry() if refusal.person else nobody
    history = _write(door, at, Category.SUSPICIOUS, Status.OCCUR, verdict.reason, member)
    return DeviceOutcome(False, verdict.rule, verdict.reason, refusal.person, history)


def _write(door: PassController, at: datetime, category: str, status: str, content: str, member: Any = None) -> History:
    return activity_log.write_record(
        door.tenant,
        at,
        category=category,
        status=status,
        content=content,
        member=member,
        device=activity_log.device_entry(door),
        held_by=activity_log.held_back_by(door),
    )
