"""Snapshots (operation 30): ten cameras in a call, stored for all viewers, or with the reason of a failure."""

import base64
import binascii
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accessapi.errors import NotFound, ServiceError
from accessapi.limits import SNAPSHOT_CAMERAS_MAX
from accessapi.resources.cameras import Snapshot
from portal.base.timers.clock import database_now
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import media
from portal.domain.cameras.models import Camera, Picture
from portal.domain.mirror import failure_reasons
from portal.domain.mirror.single_reads import call_shared, share_call
from tenants.models import Connection, current_tenant

# How long pictures of a moment are stored. The service has them for 90 days.
MOMENTS_RETENTION = timedelta(days=1)
TROUBLES: dict[str, Promise] = {
    "none": _("The camera gave no picture."),
    "other_host": _("The file is at an address that the operator has not allowed."),
    "expired": _("The service’s link no longer worked."),
    "too_large": _("The file is too large."),
    "not_fetched": _("The file could not be fetched."),
    "not_shown": _("The picture is neither JPEG nor PNG."),
    "missing": _("The service does not know this camera."),
    "no_budget": _("No device API calls left this hour."),
    "no_downloads": _("The download limit of this period is used up."),
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
    asked_at = database_now()
    data, _first = call_shared(connection, "camera_snapshots", {}, priority, query=query)
    told = {each.camera_id: each.snapshot for each in map(Snapshot.model_validate, _listed(data))}
    for camera in cameras:
        _save(camera, told.get(camera.camera_id), at, asked_at)


def save_trouble(cameras: Iterable[Camera], error: ServiceError, at: datetime | None = None) -> None:
    """Save why the service returned nothing for these cameras. Earlier pictures remain."""
    word = "missing" if isinstance(error, NotFound) else trouble_of(error)
    for camera in cameras:
        _update(camera, at, {"trouble": word, "asked_at": database_now()})


def _listed(data: dict[str, object]) -> list[object]:
    found = data.get("cameras")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _save(camera: Camera, said: str | None, at: datetime | None, asked_at: datetime) -> None:
    try:
        content = _content(said)
    except media.NotFetched as why:
        _update(camera, at, {"trouble": str(why), "asked_at": asked_at})
        return
    mark = sha256(content).hexdigest()[:32]
    told = {"content": content, "mark": mark, "taken_at": at or asked_at, "asked_at": asked_at, "trouble": ""}
    _update(camera, at, told)


def _update(camera: Camera, at: datetime | None, told: dict[str, object]) -> None:
    Picture.objects.update_or_create(camera=camera, at=at, defaults=told)


def _content(said: str | None) -> bytes:
    """Return the bytes of a picture from the service's value: an address, or base64 (see the environment's shapes)."""
    if not said:
        raise media.NotFetched("none")
    environment = current_tenant().environment
    if environment.catalogue.shapes.snapshot == "base64":
        try:
            content = base64.b64decode(said.partition(",")[2] if said.startswith("data:") else said, validate=True)
        except (binascii.Error, ValueError):
            raise media.NotFetched("not_shown") from None
    else:
        content = media.fetch_media(environment, said, media.PICTURE_MAX)
    if not media.content_type_of(content):
        raise media.NotFetched("not_shown")
    return content


def picture_of_moment(connection: Connection, camera: Camera, at: datetime) -> Picture:
    """Return a camera's picture of a moment, loaded within budget unless it is stored already.

    If it cannot be loaded, the picture's `trouble` is the reason. Equal requests share the call until the picture is
    stored, because it must still be downloaded after the service's answer.
    """
    kept = Picture.objects.filter(camera=camera, at=at).exclude(mark="").defer("content")
    if (found := kept.first()) is not None:
        return found

    def read_once() -> dict[str, Any]:
        # A request that waited for the shared call may run after the picture was stored.
        if not kept.exists():
            read(connection, [camera], Priority.PEOPLE, at)
        return {}

    if not connection.is_connected:
        _update(camera, at, {"trouble": "not_connected", "asked_at": database_now()})
    else:
        try:
            share_call(f"picture:{camera.pk}:{at.isoformat()}", read_once)
        except ServiceError as error:
            save_trouble([camera], error, at)
    return Picture.objects.defer("content").get(camera=camera, at=at)
