"""Doors of a place in the portal's local copy, and their states from the log or a status reading."""

from datetime import timedelta
from typing import Any

from portal.base.timers.clock import database_now
from portal.devices import status_reading
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Command, record_intent
from portal.domain.places import door_states
from portal.domain.places.models import PassController
from portal.domain.sync import tasks
from portal.domain.sync.models import MirrorState
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.places import Place, fresh_nonce


def real_doors(place: Place) -> list[str]:
    """Copy the sandbox's doors of this tenant into the portal's local copy; return their IDs."""
    listed = place.sandbox.doors(place.service.token)
    with tenant_scope(place.tenant):
        PassController.objects.bulk_create(PassController(**each) for each in listed)
    return [each["device_id"] for each in listed]


def door_command(door: str = "mock_succeeded", control: str = "unlock") -> Command:
    """Return the command that a door's page submits."""
    return Command(
        permission=Permission.DOORS_OPERATE,
        operation="operate_door",
        target=f"pass_controller:{door}",
        title=f"Unlock {door}",
        path={"device_id": door},
        body={"tag": "lock_operation", "control": control, "info": ""},
        priority=Priority.DOORS,
    )


def recorded_command(place: Place, control: str = "unlock", **changes: Any) -> Intent:
    """Record a command for a door with these changes, without notifying a worker."""
    intent, _ = record_intent(door_command(control=control), by=place.asker, nonce=fresh_nonce())
    if changes:
        Intent.objects.filter(pk=intent.pk).update(**changes)
        intent.refresh_from_db()
    return intent


def shows(
    place: Place, device_id: str, *, door: str = "close", lock: str = "lock", ago: float = 0, **more: Any
) -> None:
    """Store a status reading of the door from so many seconds ago."""
    theirs = place.tenant.environment.catalogue.states.service_word
    errors, line = [theirs(each) for each in more.pop("errors", [])], more.pop("cloud_com_status", "connected")
    told = {
        "door": theirs(door, "leaf_open", "leaf_closed"),
        "lock": theirs(lock, "locked", "unlocked"),
        "errors": errors,
    }
    status = {"door_status": told, "cloud_com_status": theirs(line, "connected")} | more
    with tenant_scope(place.tenant):
        door_states.apply_reading(place.tenant, device_id, status, database_now() - timedelta(seconds=ago))


def door(place: Place, device_id: str) -> PassController:
    with tenant_scope(place.tenant):
        return PassController.objects.get(device_id=device_id)


def read_due(place: Place) -> int:
    """Read the doors that are due, as a worker does when it is notified."""
    with tenant_scope(place.tenant):
        return status_reading.read_stale()


def hear(place: Place) -> None:
    """Read the log, as workers do every two minutes."""
    with tenant_scope(place.tenant):
        MirrorState.objects.get_or_create(kind=MirrorKind.HISTORIES)
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(due_at=database_now(), lease_until=None)
        tasks.read_due()


def moved(place: Place, device_id: str, action: str) -> None:
    """Force a door, leave it open (hold) or shut it (close) at the service."""
    place.sandbox.console("doors", tenant_id=place.service.tenant_id, device_id=device_id, action=action)


def calls_of_devices(place: Place) -> int:
    return len(place.calls(26))
