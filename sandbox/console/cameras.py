"""/console/api/cameras: the cameras of a tenant. Described in docs/sandbox.md."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from pydantic import Field

from sandbox.cameras.scenes import SCENES
from sandbox.errors import not_found
from sandbox.service.models import Camera, PassController, Tenant

from . import request_bodies


class CameraBody(request_bodies.RequestBody):
    """A camera: the fields to change, or all fields of a new one."""

    tenant_id: str
    camera_id: str | None = Field(None, pattern=r"^[A-Za-z0-9_-]{1,64}$")
    name: str | None = Field(None, min_length=1, max_length=200, pattern=r"^[^\x00]*$")
    scene: Literal[tuple(SCENES)] | None = None  # type: ignore[valid-type]  # Pydantic reads the names
    device_id: str | None = None
    is_connected: bool | None = None


def cameras(request: HttpRequest) -> HttpResponse:
    """Return a tenant's cameras (GET ?tenant_id=), which the service's interface cannot list.

    POST changes or creates one.
    """
    if request.method == "GET":
        rows = Camera.objects.select_related("door").filter(
            tenant_id=request.GET.get("tenant_id", "").replace("\0", "")
        )
        return JsonResponse({"cameras": [_camera(row) for row in rows.order_by("id")]})
    wanted = request_bodies.read_body(request, CameraBody)
    if not Tenant.objects.filter(pk=wanted.tenant_id).exists():
        raise not_found("tenant_id")
    values: dict[str, Any] = wanted.model_dump(include={"name", "scene", "is_connected"}, exclude_none=True)
    if wanted.device_id is not None:
        door = PassController.objects.filter(tenant_id=wanted.tenant_id, device_id=wanted.device_id).first()
        if door is None:
            raise not_found("device_id")
        values["door"] = door
    camera, created = Camera.objects.update_or_create(
        tenant_id=wanted.tenant_id,
        camera_id=wanted.camera_id or request_bodies.new_identifier("camera"),
        defaults=values,
        create_defaults={"name": "Camera"} | values,
    )
    return JsonResponse(_camera(camera), status=201 if created else 200)


def _camera(camera: Camera) -> dict[str, Any]:
    return {
        "camera_id": camera.camera_id,
        "name": camera.name,
        "scene": camera.scene,
        "device_id": camera.door.device_id if camera.door else None,
        "is_connected": camera.is_connected,
    }
