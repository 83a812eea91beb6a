"""Doors of a place in the mirror, and what the log or a reading tells of them."""

from datetime import timedelta
from typing import Any

from portal.core.mirror import door_states, tasks
from portal.core.mirror.kinds import MirrorKind
from portal.core.mirror.models import MirrorState, PassController
from portal.core.timers.clock import database_now
from portal.devices import status_reading
from tenants.scope import tenant_scope
from tests.support.places import Place


def real_doors(place: Place) -> list[str]:
    """The sandbox's doors of this tenant, put into the mirror."""
    listed = place.sandbox.doors(place.service.token)
    with tenant_scope(place.tenant):
        PassController.objects.bulk_create(PassController(**each) for each in listed)
    return [each["device_id"] for each in listed]


def shows(
    place: Place, device_id: str, *, door: str = "close", lock: str = "lock", ago: float = 0, **more: Any
) -> None:
    """A reading of so many seconds ago says this."""
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
    """What a worker does when the bell of the watch rings."""
    with tenant_scope(place.tenant):
        return status_reading.read_stale()


def hear(place: Place) -> None:
    """The log is read, as it is every two minutes."""
    with tenant_scope(place.tenant):
        MirrorState.objects.get_or_create(kind=MirrorKind.HISTORIES)
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(due_at=database_now(), lease_until=None)
        tasks.read_due()


def moved(place: Place, device_id: str, action: str) -> None:
    """Somebody forces a door, leaves it open (hold) or shuts it (close), as the service sees it."""
    place.sandbox.console("doors", tenant_id=place.service.tenant_id, device_id=device_id, action=action)


def calls_of_devices(place: Place) -> int:
    return len(place.calls(26))
