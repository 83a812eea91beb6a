"""Read pictures (operation 30) and statuses (operation 32) of cameras, and download media.

Ten cameras are in a call for pictures. They are stored for all viewers, or with the reason of a failure. Media are only
downloaded from the environment's media hosts. An address is a secret: anyone who has it can see the picture. Never log
it or put it into an error; store it encrypted.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accessapi.errors import NotFound, ServiceError
from accessapi.limits import SNAPSHOT_CAMERAS_MAX
from accessapi.resources.cameras import CameraStatus, Snapshot
from portal.base.files import downloads
from portal.base.files.downloads import DownloadRefused, TooLarge
from portal.base.files.pictures import content_type_of, mark_of
from portal.base.timers.clock import database_now
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.cameras.models import Camera, Picture
from portal.domain.sync import failure_reasons
from portal.domain.sync.single_reads import call_shared, share_call
from tenants.models import Connection, ServiceEnvironment, current_tenant

PICTURE_MAX, VIDEO_MAX = 8 * 1024 * 1024, 512 * 1024 * 1024


class NotFetched(Exception):
    """Nothing was downloaded. The text is a key of TROUBLES and does not contain the address."""


def media_hosts(environment: ServiceEnvironment) -> tuple[str, ...]:
    """Return the origins that media may come from: those of the overrides, otherwise the service's own."""
    service = urlsplit(environment.base_url)
    named = environment.catalogue.media.hosts or (service.netloc,)
    return tuple(f"{service.scheme}://{host.lower()}" for host in named)


def is_media_address(environment: ServiceEnvironment, address: str) -> bool:
    """Return True if an address is on one of the environment's media hosts and contains no user name or password."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return "@" not in parts.netloc and f"{parts.scheme}://{parts.netloc.lower()}" in media_hosts(environment)


def stream_media(environment: ServiceEnvironment, address: str, most: int) -> Iterator[bytes]:
    """Yield the content of an address, at most `most` bytes. Raises NotFetched, also after the first bytes."""
    if not is_media_address(environment, address):
        raise NotFetched("other_host")
    try:
        yield from downloads.stream_download(address, most, seconds=10, connect=3)
    except DownloadRefused as answer:
        raise NotFetched("expired" if answer.status in (401, 403, 404, 410) else "not_fetched") from None
    except TooLarge:
        raise NotFetched("too_large") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
        raise NotFetched("not_fetched") from None


def fetch_media(environment: ServiceEnvironment, address: str, most: int) -> bytes:
    """Return the content of an address, at most `most` bytes. Raises NotFetched."""
    return b"".join(stream_media(environment, address, most))


# How long pictures of a moment are stored. The service has them for 90 days.
MOMENTS_RETENTION = timedelta(days=1)
TROUBLES: dict[str, Promise] = {
    "none": _("No picture from the camera."),
    "other_host": _("No file: its address is not allowed. Contact the operator of the portal."),
    "expired": _("The download link was no longer valid."),
    "too_large": _("The file is too large."),
    "not_fetched": _("The file could not be downloaded."),
    "not_shown": _("The picture is neither JPEG nor PNG."),
    "missing": _("The service does not know this camera."),
    "no_budget": _("No device API calls left this hour."),
    "no_downloads": _("The download limit of this period is used up. Try again in the next period."),
}


def trouble_text(trouble: str) -> str:
    """Return why there is no picture, or no newer one; "" if nothing is wrong."""
    if not trouble:
        return ""
    return str(TROUBLES.get(trouble) or failure_reasons.sentence_of(trouble))


def trouble_of(error: ServiceError) -> str:
    """Return the code that is stored for an error of the service."""
    return "no_budget" if isinstance(error, BudgetExhausted) else failure_reasons.reason_of(error)


def read(connection: Connection, cameras: Sequence[Camera], priority: Priority, at: datetime | None = None) -> None:
    """Load and save the latest pictures of at most ten cameras, or those of a moment, with one call.

    Equal requests at the same time share the call. Raises BudgetExhausted and ServiceError. A problem with a single
    camera is stored in its picture.
    """
    ids = ",".join(sorted(camera.camera_id for camera in cameras[:SNAPSHOT_CAMERAS_MAX]))
    query = {"cameras_list": ids} | ({"datetime": at} if at else {})
    requested_at = database_now()
    data, _first = call_shared(connection, "camera_snapshots", {}, priority, query=query)
    snapshots = {each.camera_id: each.snapshot for each in map(Snapshot.model_validate, _listed(data))}
    for camera in cameras:
        _save(camera, snapshots.get(camera.camera_id), at, requested_at)


def save_trouble(cameras: Iterable[Camera], error: ServiceError, at: datetime | None = None) -> None:
    """Save why the service returned nothing for these cameras. Earlier pictures remain."""
    word = "missing" if isinstance(error, NotFound) else trouble_of(error)
    for camera in cameras:
        _update(camera, at, {"trouble": word, "requested_at": database_now()})


def _listed(data: dict[str, object]) -> list[object]:
    found = data.get("cameras")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _save(camera: Camera, snapshot: str | None, at: datetime | None, requested_at: datetime) -> None:
    try:
        content = _content(snapshot)
    except NotFetched as why:
        _update(camera, at, {"trouble": str(why), "requested_at": requested_at})
        return
    values = {
        "content": content,
        "mark": mark_of(content),
        "taken_at": at or requested_at,
        "requested_at": requested_at,
    }
    _update(camera, at, values | {"trouble": ""})


def _update(camera: Camera, at: datetime | None, values: dict[str, object]) -> None:
    Picture.objects.update_or_create(camera=camera, at=at, defaults=values)


def _content(snapshot: str | None) -> bytes:
    """Return the bytes of a picture from the service's value: an address, or base64 (see the environment's shapes)."""
    if not snapshot:
        raise NotFetched("none")
    environment = current_tenant().environment
    if environment.catalogue.shapes.snapshot == "base64":
        try:
            content = base64.b64decode(
                snapshot.partition(",")[2] if snapshot.startswith("data:") else snapshot, validate=True
            )
        except (binascii.Error, ValueError):
            raise NotFetched("not_shown") from None
    else:
        content = fetch_media(environment, snapshot, PICTURE_MAX)
    if not content_type_of(content):
        raise NotFetched("not_shown")
    return content


def picture_of_moment(connection: Connection, camera: Camera, at: datetime) -> Picture:
    """Return a camera's picture of a moment, loaded within budget unless it is stored already.

    If it cannot be loaded, the picture's `trouble` is the reason. Equal requests share the call until the picture is
    stored, because it must still be downloaded after the service's answer.
    """
    stored = Picture.objects.filter(camera=camera, at=at).exclude(mark="").defer("content")
    if (found := stored.first()) is not None:
        return found

    def read_once() -> dict[str, Any]:
        # A request that waited for the shared call may run after the picture was stored.
        if not stored.exists():
            read(connection, [camera], Priority.PEOPLE, at)
        return {}

    if not connection.is_connected:
        _update(camera, at, {"trouble": "not_connected", "requested_at": database_now()})
    else:
        try:
            share_call(f"picture:{camera.pk}:{at.isoformat()}", read_once)
        except ServiceError as error:
            save_trouble([camera], error, at)
    return Picture.objects.defer("content").get(camera=camera, at=at)


def request_status(connection: Connection, camera_id: str, priority: Priority) -> CameraStatus:
    """Return a camera's status with one call, shared by equal requests. Raises ServiceError."""
    data, _first = call_shared(connection, "camera_status", {"camera_id": camera_id}, priority)
    return CameraStatus.model_validate(data)


def read_status(connection: Connection, camera: Camera, priority: Priority) -> None:
    """Load a camera's status and save it, also if the service does not know the camera. Raises other ServiceErrors."""
    try:
        save_status(camera, request_status(connection, camera.camera_id, priority))
    except NotFound:
        values = {
            "is_missing": True,
            "is_suspect": False,
            "is_connected": None,
            "is_streaming": None,
            "status_at": database_now(),
        }
        _update_status(camera, values)


def save_status(camera: Camera, status: CameraStatus) -> None:
    """Save a status that was just loaded from the service."""
    values = {
        "is_connected": status.is_connected,
        "is_streaming": status.is_streaming,
        "is_missing": False,
        "is_suspect": False,
    }
    _update_status(camera, values | {"status_at": database_now()})


def _update_status(camera: Camera, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(camera, name, value)
    camera.save(update_fields=list(values))
