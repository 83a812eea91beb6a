"""Single reads: what a page asks the service about one member or device, within budget, kept for everybody."""

from typing import Any

from accessapi.errors import NotFound
from accessapi.resources import guests, members, places
from portal.core.budget.client import client as budgeted
from portal.core.budget.priorities import Priority
from portal.core.mirror import doors, own, own_guests
from portal.core.mirror.joining import shared
from portal.core.mirror.models import KeyBox
from portal.core.timers.clock import database_now
from tenants.models import Connection
from tenants.scope import tenant_scope

__all__ = ["door_status", "key_box_status", "read_guest", "read_member"]


def read_member(connection: Connection, member_id: str, priority: Priority, *, alone: bool = False) -> members.Member:
    """The member as the service has it now (operation 5); the mirror learns it too.

    One call, shared with whoever asks at the same moment. `alone`: a call of its own, which begins now. Proof needs
    that (decision 53): a shared one may have begun before. The resource holds secrets in clear: show, never store.
    Raises NotFound after marking the mirror's row as gone, BudgetExhausted, and the rest of the error tree.
    """
    with tenant_scope(connection.tenant):
        asked_at = database_now()
        try:
            data, first = _asked(connection, "read_member", {"member_id": member_id}, priority, alone=alone)
        except NotFound:
            own.member_deleted(connection.tenant, member_id)
            raise
        if first:
            own.member_read(connection.tenant, {**data, "member_id": member_id}, asked_at)
        return members.Member.model_validate({**data, "member_id": member_id})


def read_guest(connection: Connection, guest_id: str, priority: Priority, *, alone: bool = False) -> guests.Guest:
    """The guest as the service has it now (operation 21); the mirror learns it too. Shared and raising as above."""
    with tenant_scope(connection.tenant):
        asked_at = database_now()
        try:
            data, first = _asked(connection, "read_guest", {"guest_id": guest_id}, priority, alone=alone)
        except NotFound:
            own_guests.guest_gone(connection.tenant, guest_id)
            raise
        if first:
            own_guests.guest_read(connection.tenant, {**data, "guest_id": guest_id}, asked_at)
        return guests.Guest.model_validate({**data, "guest_id": guest_id})


def door_status(connection: Connection, device_id: str, priority: Priority) -> places.PassControllerStatus:
    """A door's status now (operation 26), kept verbatim as the last known one. Raises the error tree."""
    data = _status(connection, "pass_controller_status", {"device_id": device_id}, priority)
    return places.PassControllerStatus.model_validate(data)


def key_box_status(connection: Connection, key_device_id: str, priority: Priority) -> places.KeyBoxStatus:
    """A key box's status now (operation 28), kept verbatim as the last known one. Raises the error tree."""
    data = _status(connection, "key_box_status", {"key_device_id": key_device_id}, priority)
    return places.KeyBoxStatus.model_validate(data)


def _status(connection: Connection, operation: str, path: dict[str, str], priority: Priority) -> dict[str, Any]:
    with tenant_scope(connection.tenant):
        asked_at = database_now()
        data, first = _asked(connection, operation, path, priority)
        if first and "device_id" in path:
            doors.read(connection.tenant, path["device_id"], data, asked_at)
        elif first:
            rows = KeyBox.objects.filter(**path).exclude(status_as_of__gt=asked_at)
            rows.update(status=data, status_as_of=asked_at)
        return data


def _asked(
    connection: Connection, operation: str, path: dict[str, str], priority: Priority, *, alone: bool = False
) -> tuple[dict[str, Any], bool]:
    """What the service answers, and whether the call was this caller's own."""

    def call() -> dict[str, Any]:
        return budgeted(connection, priority).call(operation, path=path).data

    return (call(), True) if alone else shared(f"{operation}:{next(iter(path.values()))}", call)
