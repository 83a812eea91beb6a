"""People at a camera's door, from the log."""

from datetime import datetime, timedelta

from sandbox import clock
from sandbox.cameras.pedestrians import APPROACH_SECONDS, LEAVE_SECONDS, PAUSE_SECONDS, Arrival
from sandbox.cameras.picture import CameraView
from sandbox.service.models import Camera, History, Tenant

#: The category of records about admitted people; others turn back.
_ADMITTED = "normal"


def view_of(camera: Camera) -> CameraView:
    """Return the camera's properties on which its pictures depend."""
    return CameraView(camera.camera_id, camera.name, camera.scene)


def find_arrivals(camera: Camera, since: float, until: float) -> tuple[Arrival, ...]:
    """Return the people at the camera's door in pictures between these seconds, as far as they are known now."""
    if camera.door is None:
        return ()
    last = min(datetime.fromtimestamp(until + APPROACH_SECONDS, clock.SERVICE_ZONE), clock.now())
    first = datetime.fromtimestamp(since, clock.SERVICE_ZONE) - timedelta(seconds=PAUSE_SECONDS + LEAVE_SECONDS)
    logs = History.objects.filter(tenant_id=camera.tenant_id, at__gte=first, at__lte=last).order_by("at", "id")
    rows = logs.values_list("at", "category", "member", "device")
    return tuple(
        Arrival(at.timestamp(), str(member.get("id") or member.get("data")), category == _ADMITTED)
        for at, category, member, device in rows
        if member and device and device.get("id") == camera.door.device_id
    )


def cameras_at(tenant: Tenant) -> dict[str, str]:
    """Return the camera at each door of a tenant, by the door's identifier: the first, as in `camera_of`."""
    rows = Camera.objects.filter(tenant=tenant, door__isnull=False).order_by("-id")
    return dict(rows.values_list("door__device_id", "camera_id"))


def camera_of(history: History) -> Camera | None:
    """Return the camera at the door of the record."""
    device_id = (history.device or {}).get("id")
    cameras = Camera.objects.select_related("door").filter(tenant_id=history.tenant_id, door__device_id=device_id)
    return cameras.order_by("id").first() if device_id else None
