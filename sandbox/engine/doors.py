"""Doors and key boxes: a lock's state follows from its past commands and the time since."""

from datetime import datetime, timedelta
from typing import Any

from sandbox import state_words
from sandbox.behaviour import Behaviour
from sandbox.engine import activity_log
from sandbox.service.models import Command, DeviceRequest, KeyBox, PassController, Tenant
from sandbox.service.models.requests import new_request_id

#: Devices for testing, offered to every tenant with a licence (specification: Device operation requests).
MOCK_DEVICES = ("mock_succeeded", "mock_succeeded_5", "mock_timeout")
#: Unlocks that end automatically after `relock_seconds`.
_MOMENTARY = ("unlock", "in_unlock", "out_unlock")


def operate(
    tenant: Tenant,
    operation: int,
    device: PassController | KeyBox | str,
    body: dict[str, Any],
    behaviour: Behaviour,
    at: datetime,
) -> DeviceRequest:
    """Record the command and its outcome, and return the request; the log shows it when the outcome is due.

    `device` is the device, or the name of a mock device, which has no log (assumed).
    """
    device_id = device if isinstance(device, str) else _identifier(device)
    targets = body.get("targets", [])
    request_id = new_request_id()
    Command.objects.create(
        tenant_id=tenant.tenant_id,
        at=at,
        operation=operation,
        device_id=device_id,
        control=body["control"],
        targets=targets,
        info=body.get("info") or "",
        request_id=request_id,
    )
    outcome, seconds = _outcome(device, behaviour)
    request = DeviceRequest.objects.create(
        tenant=tenant,
        at=at,
        request_id=request_id,
        device_id=device_id,
        control=body["control"],
        targets=targets,
        due_at=at + timedelta(seconds=seconds),
        outcome=outcome,
        relock_seconds=behaviour.relock_seconds,
    )
    if not isinstance(device, str):
        _log(tenant, device, request, body.get("info") or "")
    return request


def _log(tenant: Tenant, device: PassController | KeyBox, request: DeviceRequest, info: str) -> None:
    """Write a log record that identifies the request. Its text is assumed."""
    said = state_words.record_text(f"Remote {request.control} {request.outcome}")
    parts = [said, info, f"request {request.request_id}"]
    activity_log.write_record(
        tenant,
        request.due_at,
        category=activity_log.Category.OPERATION,
        status=activity_log.Status.OCCUR,
        content="; ".join(part for part in parts if part),
        device=activity_log.device_entry(device, request.targets),
    )


def status(request: DeviceRequest, now: datetime) -> str:
    """Return the request's status at `now`."""
    return request.outcome if request.due_at <= now else "progress"


def leaf(door: PassController, now: datetime) -> str:
    """Return open or close for the door's leaf."""
    if door.opened_at is None or door.opened_at > now:
        return "close"
    return "open" if door.closes_at is None or door.closes_at > now else "close"


def problem(door: PassController) -> str:
    """Return the problem of a door that stays open (assumed words): forced_open, open_too_long or nothing."""
    if door.opened_at is None or door.closes_at is not None:
        return ""
    return "forced_open" if door.is_forced else "open_too_long"


def lock(door: PassController, now: datetime) -> tuple[str, list[str]]:
    """Return (lock or unlock, errors) of a door. Its last command decides, and an unlock ends automatically.

    A door is also unlocked while it is open for an admitted person.
    """
    held, errors = _lock_by_command(door, now)
    wrong = problem(door)
    let_in = leaf(door, now) == "open" and not door.is_forced
    return ("unlock" if let_in else held), errors + ([wrong] if wrong else [])


def _lock_by_command(door: PassController, now: datetime) -> tuple[str, list[str]]:
    commands = DeviceRequest.objects.filter(tenant_id=door.tenant_id, device_id=door.device_id, due_at__lte=now)
    last = commands.order_by("-due_at", "-id").first()
    errors = ["unlock_error"] if last and last.outcome == "failed" and "unlock" in last.control else []
    done = last if last is None or last.outcome == "succeeded" else _last_done(commands)
    if done is None or done.control == "lock":
        return "lock", errors
    relocked = done.control in _MOMENTARY and done.due_at + timedelta(seconds=done.relock_seconds) <= now
    return ("lock" if relocked else "unlock"), errors


def unit_locks(box: KeyBox, now: datetime) -> dict[str, str]:
    """Return unit_no -> lock or unlock, for the units of past commands."""
    commands = DeviceRequest.objects.filter(
        tenant_id=box.tenant_id, device_id=box.key_device_id, due_at__lte=now, outcome="succeeded"
    )
    locks = {}
    for command in commands.order_by("due_at", "id"):
        open_still = command.due_at + timedelta(seconds=command.relock_seconds) > now
        for unit_no in command.targets:
            locks[unit_no] = "unlock" if command.control == "unlock" and open_still else "lock"
    return locks


def _last_done(commands: Any) -> DeviceRequest | None:
    found: DeviceRequest | None = commands.filter(outcome="succeeded").order_by("-due_at", "-id").first()
    return found


def _identifier(device: PassController | KeyBox) -> str:
    return device.device_id if isinstance(device, PassController) else device.key_device_id


def _outcome(device: PassController | KeyBox | str, behaviour: Behaviour) -> tuple[str, float]:
    """Return the command's outcome, and the seconds until it is known."""
    if device == "mock_succeeded":
        return "succeeded", 0
    if device == "mock_succeeded_5":
        return "succeeded", 5
    if isinstance(device, str):
        return "timeout", behaviour.mock_timeout_seconds
    reached = device.has_power and device.is_connected
    return ("succeeded" if reached else "failed"), behaviour.device_seconds
