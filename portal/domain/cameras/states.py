"""Read cameras' statuses (operation 32) and save them."""

from collections.abc import Mapping

from accessapi.errors import NotFound
from accessapi.resources.cameras import CameraStatus
from portal.base.timers.clock import database_now
from portal.domain.budget.priorities import Priority
from portal.domain.cameras.models import Camera
from portal.domain.mirror.single_reads import call_shared
from tenants.models import Connection


def request_status(connection: Connection, camera_id: str, priority: Priority) -> CameraStatus:
    """Return a camera's status with one call, shared by equal requests. Raises ServiceError."""
    data, _first = call_shared(connection, "camera_status", {"camera_id": camera_id}, priority)
    return CameraStatus.model_validate(data)


def read_status(connection: Connection, camera: Camera, priority: Priority) -> None:
    """Load a camera's status and save it, also if the service does not know the camera. Raises other ServiceErrors."""
    try:
        save_status(camera, request_status(connection, camera.camera_id, priority))
    except NotFound:
        told = {
            "is_missing": True,
            "is_suspect": False,
            "is_connected": None,
            "is_streaming": None,
            "status_at": database_now(),
        }
        _update_status(camera, told)


def save_status(camera: Camera, status: CameraStatus) -> None:
    """Save a status that was just loaded from the service."""
    told = {
        "is_connected": status.is_connected,
        "is_streaming": status.is_streaming,
        "is_missing": False,
        "is_suspect": False,
    }
    _update_status(camera, told | {"status_at": database_now()})


def _update_status(camera: Camera, told: Mapping[str, object]) -> None:
    for name, value in told.items():
        setattr(camera, name, value)
    camera.save(update_fields=list(told))
