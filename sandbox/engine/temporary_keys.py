"""Temporary use (specification: operation 11) of keys that are not normally used, from receipt on."""

from datetime import datetime, timedelta
from typing import Any

from accessapi.permissions import KeyPlace, decide_place
from sandbox.engine import activity_log
from sandbox.engine.recognition import Person
from sandbox.errors import KEY_NOT_PERMITTED, ApiError, invalid, setting_off
from sandbox.service.models import Command, KeyBox, Member, TemporaryUse, Tenant
from sandbox.service.models.requests import new_request_id

_ANYWHERE = {"default_mode": "allow_all"}


def grant_use(tenant: Tenant, member: Member, body: dict[str, Any], at: datetime) -> list[str]:
    """Let the member use the named keys until `at` + timer. Return the boxes that were reached.

    Use inside `lock_members`. One command is recorded for each box. A later call for a key replaces the earlier one: it
    extends, and 0 ends. Raises ApiError (40002, 40304, 40305) and then does nothing.
    """
    wanted = _requested_units(tenant, member, body.get("targets_list", []), at)
    request_id = new_request_id()
    Command.objects.bulk_create(
        Command(
            tenant_id=tenant.tenant_id,
            at=at,
            operation=11,
            device_id=box.key_device_id,
            control="temporary_use",
            targets=units,
            info=body.get("info", ""),
            request_id=request_id,
        )
        for box, units in wanted
    )
    reached = [(box, units) for box, units in wanted if box.is_reachable]
    for box, units in reached:
        _replace(member, box, units, body, at)
        _write(tenant, member, box, units, body, at)
    return [box.key_device_id for box, _ in reached]


def may_use(member: Member, box: KeyBox, unit_no: str, at: datetime) -> bool:
    """Return whether a temporary use lets the member take this key at `at`, despite schedule and restriction."""
    if not _has_right(member, _ANYWHERE, box, unit_no, at):
        return False
    running = TemporaryUse.objects.filter(member=member, box=box, until__gt=at)
    return any(unit_no in units for units in running.values_list("units", flat=True))


def _requested_units(
    tenant: Tenant, member: Member, targets: list[dict[str, Any]], at: datetime
) -> list[tuple[KeyBox, list[str]]]:
    """Return the requested units of each box, each once; boxes without a named key are left out."""
    units: dict[str, dict[str, None]] = {}
    for item in targets:
        units.setdefault(item["device_id"], {}).update(dict.fromkeys(item["unit_no_list"]))
    boxes = {box.key_device_id: box for box in KeyBox.objects.filter(tenant=tenant, key_device_id__in=units)}
    for device_id, numbers in units.items():
        if device_id not in boxes:
            raise invalid("targets_list.device_id: does not exist")
        _check(member, boxes[device_id], list(numbers), at)
    return [(boxes[device_id], list(numbers)) for device_id, numbers in units.items() if numbers]


def _check(member: Member, box: KeyBox, numbers: list[str], at: datetime) -> None:
    if not set(numbers) <= box.unit_numbers:
        raise invalid("targets_list.unit_no_list: a unit does not exist in this key box")
    if not box.temporary_use_enabled:
        raise setting_off(f"key box {box.key_device_id} has no keys that are not normally used")
    rights = _without_hours(member.detail.get("keys_pass"))
    for unit_no in numbers:
        if not _has_right(member, rights, box, unit_no, at):
            raise ApiError(403, KEY_NOT_PERMITTED, f"the member has no permission for key {unit_no}")


def _has_right(member: Member, rights: Any, box: KeyBox, unit_no: str, at: datetime) -> bool:
    period = _person(member).period
    return decide_place(rights, KeyPlace(box.key_device_id, unit_no), at, use_period=period).allowed is True


def _without_hours(rights: Any) -> Any:
    """Return the rights without their hours.

    A member who may use a key at some time has permission for it (assumed).
    """
    if isinstance(rights, list):
        return [_without_hours(item) for item in rights]
    if not isinstance(rights, dict):
        return rights
    if rights.get("effect") == "allow" and rights.get("schedule"):
        return {"effect": "allow_all"}
    return {name: _without_hours(value) for name, value in rights.items()}


def _replace(member: Member, box: KeyBox, units: list[str], body: dict[str, Any], at: datetime) -> None:
    for earlier in TemporaryUse.objects.filter(member=member, box=box):
        earlier.units = [unit_no for unit_no in earlier.units if unit_no not in units]
        if earlier.units and earlier.until > at:
            earlier.save(update_fields=["units"])
        else:
            earlier.delete()
    if body["timer"]:
        TemporaryUse.objects.create(
            tenant_id=member.tenant_id,
            member=member,
            box=box,
            units=units,
            until=at + timedelta(seconds=body["timer"]),
            info=body.get("info", ""),
            device_action=body.get("device_action", False),
        )


def _write(tenant: Tenant, member: Member, box: KeyBox, units: list[str], body: dict[str, Any], at: datetime) -> None:
    """Write a log record with the caller's text (the rest of the record's text is assumed)."""
    parts = ["Temporary use", f"{body['timer']} s", "signal" if body.get("device_action") else "", body.get("info", "")]
    activity_log.write_record(
        tenant,
        at,
        category=activity_log.Category.OPERATION,
        status=activity_log.Status.OCCUR,
        content="; ".join(part for part in parts if part),
        member=_person(member).record_entry(),
        device=activity_log.device_entry(box, units),
    )


def _person(member: Member) -> Person:
    """Return the member as a person without a credential."""
    return Person(member, "", "")
