"""Write the log, and queue its notifications (specification: Logs, Events).

The specification shows only the categories normal and operation; the others and the two statuses are published. The
texts of records are assumed.
"""

import secrets
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import transaction

from sandbox import state_words
from sandbox.engine import webhooks
from sandbox.service.models import History, KeyBox, PassController, Tenant

# Texts of records, in the overrides file's words.
KEY_TAKEN = state_words.record_text("Key taken")
KEY_RETURNED = state_words.record_text("Key returned")
WRONG_KEY = state_words.record_text("Wrong key")
DOOR_FORCED = state_words.record_text("Door forced open")
DOOR_LEFT_OPEN = state_words.record_text("Door open too long")
POWER_CUT = state_words.record_text("Power cut")
CONNECTION_LOST = state_words.record_text("Connection lost")


class Category(StrEnum):
    """How serious a record is."""

    NORMAL = "normal"
    OPERATION = "operation"
    SUSPICIOUS = "suspicious"
    WARNING = "warning"
    ERROR = "error"
    EMERGENCY = "emergency"


class Status(StrEnum):
    """Whether an event happened or has ended."""

    OCCUR = "occur"
    RESTORE = "restore"


def write_record(
    tenant: Tenant,
    at: datetime,
    *,
    category: str,
    status: str,
    content: str,
    member: dict[str, str] | None = None,
    device: dict[str, Any] | None = None,
    held_by: str = "",
) -> History:
    """Write one record, shown from `at` on, and queue the notification if the tenant's webhook wants it.

    member and device are objects of a log record (`device_entry`). `held_by` is a device that cannot send it yet: the
    record is invisible before `release_held_back`.
    """
    with transaction.atomic():
        history = History.objects.create(
            tenant=tenant,
            history_id=f"h{secrets.token_hex(10)}",
            at=at,
            status=status,
            category=category,
            content=content[:300],
            member=member,
            device=device,
            held_by=held_by,
        )
        if not held_by:
            webhooks.queue(tenant, history, at)
    return history


def release_held_back(tenant: Tenant, device_id: str, at: datetime) -> None:
    """Show the records that the device held back without a connection, with the times of their events."""
    with transaction.atomic():
        held = History.objects.select_for_update().filter(tenant=tenant, held_by=device_id).order_by("at", "id")
        for history in held:
            webhooks.queue(tenant, history, at)
        History.objects.filter(pk__in=[history.pk for history in held]).update(held_by="")


def device_entry(device: PassController | KeyBox, units: Iterable[str] = ()) -> dict[str, Any]:
    """Return the device of a record, with the key box's units in it. Values of `module` are assumed."""
    if isinstance(device, PassController):
        return {"id": device.device_id, "name": device.name, "module": "pass", "units": []}
    names = {unit["unit_no"]: unit["unit_name"] for unit in device.units}
    concerned = [{"unit_no": number, "unit_name": names.get(number, "")} for number in units]
    return {"id": device.key_device_id, "name": device.name, "module": "key", "units": concerned}


def held_back_by(device: PassController | KeyBox) -> str:
    """Return the value of `held_by` for a record of this device: its identifier while it has no connection."""
    if device.is_reachable:
        return ""
    return device.device_id if isinstance(device, PassController) else device.key_device_id
