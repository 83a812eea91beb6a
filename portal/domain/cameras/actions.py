"""Changes of the list of cameras by staff. The list is the portal's own: the service is not informed."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from portal.base.ui.value_words import join_values
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import pictures
from portal.domain.cameras.models import Camera
from portal.domain.history.models import History
from portal.domain.intents.recording import Requester
from portal.domain.sync import single_reads
from tenants import audit
from tenants.models import Connection, Tenant
from tenants.sentences import coded_sentence

# Per tenant, and per list that is entered. A round of pictures of so many cameras still ends within the hour.
MAX_CAMERAS, MAX_AT_ONCE = 400, 200
# The number of log records that are searched for cameras' identifiers.
_RECORDS = 2_000


class CameraNotSaved(ValueError):
    """Nothing was saved; the text gives the reason."""


def add(*, cameras: Sequence[tuple[str, str]], by: Requester, connection: Connection) -> list[Camera]:
    """Save cameras by (identifier, name) and return them. Raises CameraNotSaved.

    A single camera is first checked with the service. Several cameras are each checked when first viewed.
    """
    status = _read_status(connection, cameras[0][0]) if len(cameras) == 1 else None
    with transaction.atomic():
        Tenant.objects.select_for_update(no_key=True).get(pk=by.tenant.pk)
        known = set(Camera.objects.values_list("camera_id", flat=True))
        if twice := [camera_id for camera_id, _name in cameras if camera_id in known]:
            text = _("No cameras were added. Already in the list: %(ids)s. Remove these lines and try again.")
            raise CameraNotSaved(text % {"ids": join_values(twice[:10])})
        if len(known) + len(cameras) > MAX_CAMERAS:
            text = _("No cameras were added. The limit is %(n)d cameras. Remove those you no longer need.")
            raise CameraNotSaved(text % {"n": MAX_CAMERAS})
        rows = [Camera(tenant=by.tenant, camera_id=camera_id, name=name) for camera_id, name in cameras]
        Camera.objects.bulk_create(rows)
        for row in rows:
            _audit(row, by, "camera.added")
    if status is not None:
        pictures.save_status(rows[0], status)
    return rows


def ids_in_log() -> list[str]:
    """Return the identifiers of cameras in the newest log records that are not in the list yet."""
    newest = History.objects.order_by("-at", "-pk").values_list("extra", flat=True)[:_RECORDS]
    logged = dict.fromkeys(str(extra["camera_id"]) for extra in newest if extra.get("camera_id"))
    known = set(Camera.objects.filter(camera_id__in=logged).values_list("camera_id", flat=True))
    return [camera_id for camera_id in logged if camera_id not in known][:MAX_AT_ONCE]


def _read_status(connection: Connection, camera_id: str) -> Any:
    """Return the status of a new camera; None if the service cannot be asked now. Raises CameraNotSaved."""
    if not connection.is_connected:
        return None
    try:
        return pictures.request_status(connection, camera_id, Priority.PEOPLE)
    except NotFound:
        raise CameraNotSaved(
            _("The camera was not added. The service does not know this ID. Check it on the member site.")
        ) from None
    except ServiceError:
        return None


def edit(
    *, camera: Camera, name: str, doors: Collection[str], areas: Collection[str], is_intercom: bool, by: Requester
) -> None:
    """Save a camera's name, its doors and areas, and whether it belongs to an intercom."""
    before = _audit_values(camera)
    camera.name, camera.doors, camera.areas, camera.is_intercom = name, sorted(doors), sorted(areas), is_intercom
    with transaction.atomic():
        camera.save(update_fields=["name", "doors", "areas", "is_intercom"])
        _audit(camera, by, "camera.edited", before=before, after=_audit_values(camera))


def remove(*, camera: Camera, by: Requester) -> None:
    """Delete a camera with its pictures. The audit log still shows who watched it."""
    with transaction.atomic():
        _audit(camera, by, "camera.removed")
        camera.delete()


def check_status(camera: Camera) -> str:
    """Load a camera's status for a page. Return the reason if that failed."""
    return single_reads.read_status_for_page(lambda line: pictures.read_status(line, camera, Priority.PEOPLE))


def _audit_values(camera: Camera) -> dict[str, Any]:
    return {"name": camera.name, "doors": camera.doors, "areas": camera.areas, "is_intercom": camera.is_intercom}


def _audit(camera: Camera, by: Requester, action: str, **details: Any) -> None:
    target = f"camera:{camera.camera_id}"
    audit.record(
        **by.audit_author, action=action, target=target, summary=coded_sentence(action, camera=str(camera)), **details
    )
