"""A camera's status from operation 32, and its state from that status and its latest picture."""

from collections.abc import Mapping

from accessapi.errors import NotFound
from accessapi.resources.cameras import CameraStatus
from portal.base.timers.clock import database_now
from portal.base.ui.chips import Chip
from portal.domain.budget.priorities import Priority
from portal.domain.cameras.models import Camera, Picture
from portal.domain.mirror.single_reads import call_shared
from tenants.models import Connection

# With these, the picture was not refused: it shows that the camera was connected when it was taken.
_GIVEN = ("", "no_budget")


def state_of(camera: Camera, picture: Picture | None) -> Chip:
    """Return a camera's state for all pages and plans, from the newer of its status and its latest picture.

    It is unknown if the service does not know the camera or nothing was loaded yet.
    """
    if camera.is_missing:
        return Chip("unknown", as_of=camera.status_at)
    taken_at = picture.taken_at if picture is not None and picture.trouble in _GIVEN else None
    if taken_at is not None and (camera.status_at is None or taken_at > camera.status_at):
        return Chip("connected", as_of=taken_at)
    if camera.is_connected is None:
        return Chip("unknown")
    return Chip("connected" if camera.is_connected else "offline", as_of=camera.status_at)


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
        _update(camera, told)


def save_status(camera: Camera, status: CameraStatus) -> None:
    """Save a status that was just loaded from the service."""
    told = {
        "is_connected": status.is_connected,
        "is_streaming": status.is_streaming,
        "is_missing": False,
        "is_suspect": False,
    }
    _update(camera, told | {"status_at": database_now()})


def _update(camera: Camera, told: Mapping[str, object]) -> None:
    for name, value in told.items():
        setattr(camera, name, value)
    camera.save(update_fields=list(told))
