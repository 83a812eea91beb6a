"""What a camera shows of the log: who stood at its door, and when."""

from datetime import datetime, timedelta

from sandbox import clock
from sandbox.cameras.pedestrians import APPROACH_SECONDS, LEAVE_SECONDS, PAUSE_SECONDS, Arrival
from sandbox.cameras.picture import CameraView
from sandbox.service.models import Camera, History, Tenant

#: The category of logs about somebody who was admitted; others turn back.
_ADMITTED = "normal"


def view_of(camera: Camera) -> CameraView:
    """Return what the camera's pictures depend on."""
    return CameraView(camera.camera_id, camera.name, camera.scene)


def find_arrivals(camera: Camera, since: float, until: float) -> tuple[Arrival, ...]:
    """Return everybody at the camera's door whom a picture between these seconds shows, as far as is known now."""
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
    """Return the camera at each door of a tenant that has one, by the door's identifier: the first, as `camera_of`."""
    rows = Camera.objects.filter(tenant=tenant, door__isnull=False).order_by("-id")
    return dict(rows.values_list("door__device_id", "camera_id"))


def camera_of(history: History) -> Camera | None:
    """Return the camera at the door that the log is about."""
    device_id = (history.device or {}).get("id")
    cameras = Camera.objects.select_related("door").filter(tenant_id=history.tenant_id, door__device_id=device_id)
    return cameras.order_by("id").first() if device_id else None
