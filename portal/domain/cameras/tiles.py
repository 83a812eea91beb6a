"""Cameras as tiles with their state and latest picture, and the record of who viewed them.

Pages refresh pictures all the time, so a view is recorded in the audit log once an hour per person and target.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Prefetch
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.operations import CallClass
from portal.base.files.pictures import send_picture
from portal.base.ui import live_updates
from portal.base.ui.chips import Chip
from portal.base.ui.times import local
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.budget import quota
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import refreshing
from portal.domain.cameras.models import Camera, Picture, Viewing
from portal.domain.cameras.pictures import trouble_text
from portal.domain.intents.recording import Requester
from tenants import audit
from tenants.access import TenantRequest
from tenants.roles import Permission
from tenants.sentences import Sentence, coded_sentence

# With these, the picture was not refused: it shows that the camera was connected when it was taken.
_GIVEN = ("", "no_budget")
# A picture older than this gets a clear warning.
OLD_AFTER = timedelta(minutes=15)
# On an open page, pictures are loaded more often than this.
_RECENT_FOR = timedelta(minutes=2)


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


@dataclass(frozen=True)
class Tile:
    """A camera with its latest picture. `problem` is why there is none, or no newer one."""

    camera: Camera
    picture: Picture | None
    href: str
    picture_url: str
    problem: str

    @property
    def chip(self) -> Chip:
        """Return the state, without its time if that is the time of the picture, which is shown beside it."""
        state = state_of(self.camera, self.picture)
        is_repeated = bool(self.picture_url and self.picture and state.as_of == self.picture.taken_at)
        return replace(state, as_of=None) if is_repeated else state

    @property
    def is_old(self) -> bool:
        taken_at = self.picture.taken_at if self.picture else None
        return taken_at is not None and taken_at < timezone.now() - OLD_AFTER

    @property
    def tone(self) -> str:
        """Return the CSS class of the tile."""
        return self.chip.tone


def is_before_live(tile: Tile, viewing: Viewing | None) -> bool:
    """Return True if the picture beside a live video was taken before that began."""
    taken_at = tile.picture.taken_at if tile.picture else None
    return viewing is not None and viewing.since is None and taken_at is not None and taken_at < viewing.began_at


def is_newer_expected(request: TenantRequest, tile: Tile) -> bool:
    """Return True if the picture is out of date and a worker is about to load a newer one."""
    taken_at = tile.picture.taken_at if tile.picture else None
    connection = quota.connection_of(request)
    if tile.problem or connection is None or not connection.is_connected:
        return False
    if taken_at is not None and taken_at > timezone.now() - _RECENT_FOR:
        return False
    return quota.no_calls_until(request, Priority.WATCHED, CallClass.DEVICE) is None


def latest_pictures() -> "Prefetch[str]":
    """Return the prefetch of the latest picture of each camera, without its bytes."""
    rows = Picture.objects.filter(at=None).defer("content")
    return Prefetch("pictures", rows, to_attr="latest")


def latest_picture_of(camera: Camera) -> Picture | None:
    """Return the latest picture of a camera that was loaded with `latest_pictures()`."""
    return next(iter(getattr(camera, "latest", ())), None)


def tile_of(request: TenantRequest, camera: Camera, area: str = "cameras") -> Tile:
    """Return the tile of a camera that was loaded with `latest_pictures()`. Its addresses are those of `area`."""
    picture = latest_picture_of(camera)
    slug = request.tenant.slug
    source = ""
    if picture is not None and picture.mark:
        source = url_in_tenant(f"{area}:picture", slug, camera.camera_id, str(picture.pk), picture.mark)
    tile = Tile(camera, picture, url_in_tenant(f"{area}:camera", slug, camera.camera_id), source, "")
    return replace(tile, problem=_problem_of(request, tile))


def _problem_of(request: TenantRequest, tile: Tile) -> str:
    """Return why a tile has no picture, or no newer one. "No calls left" is about now, not about the last request."""
    trouble = "missing" if tile.camera.is_missing else tile.picture.trouble if tile.picture else ""
    if trouble not in ("", "no_budget"):
        return trouble_text(trouble)
    until = None
    if not tile.picture_url or tile.is_old:
        until = quota.no_calls_until(request, Priority.WATCHED, CallClass.DEVICE)
    if until is None:
        return ""
    return _("No device API calls left for camera pictures until %(time)s.") % {"time": f"{local(until):%H:%M}"}


def tiles_at_door(request: TenantRequest, device_id: str) -> list[Tile]:
    """Return the cameras of a door for people who may see them, and record that an open page shows them."""
    if not request.access.can(Permission.CAMERAS_VIEW):
        return []
    rows = (
        Camera.objects.filter(doors__contains=[device_id])
        .order_by("name_order", "pk")
        .prefetch_related(latest_pictures())
    )
    cameras = list(rows)
    if cameras:
        refreshing.mark_in_sight(cameras)
    return [tile_of(request, camera) for camera in cameras]


def version_of(tiles: Sequence[Tile]) -> str:
    """Return the version of what tiles show."""
    contents = [
        (each.camera.pk, each.picture_url, each.problem, each.chip, each.is_old, str(each.camera)) for each in tiles
    ]
    return live_updates.version_of(contents)


_ONCE_IN = timedelta(hours=1)
_WALL: dict[str, Any] = {"action": "camera.wall", "target": "cameras", "summary": coded_sentence("camera.wall")}


def record_wall_viewed(by: Requester) -> None:
    """Record that a person viewed the page of all cameras."""
    audit.record_once(within=_ONCE_IN, **by.audit_author, **_WALL)


def record_latest_viewed(cameras: Iterable[Camera], by: Requester) -> None:
    """Record that a person viewed the latest pictures of these cameras."""
    for camera in cameras:
        _audit(by, "camera.latest", f"camera:{camera.camera_id}", coded_sentence("camera.latest", camera=str(camera)))


def _record_moment_viewed(camera: Camera, at: datetime, by: Requester) -> None:
    """Record that a person viewed a camera's picture of a past moment."""
    summary = coded_sentence("camera.picture", camera=str(camera), at=f"{local(at):%Y-%m-%d %H:%M:%S}")
    _audit(by, "camera.picture", f"camera:{camera.camera_id}", summary)


def send_viewed_picture(picture: Picture, by: Requester) -> HttpResponse:
    """Return the response with a picture. Record that a person loads it, from a page or by its address alone."""
    if picture.at is not None:
        _record_moment_viewed(picture.camera, picture.at, by)
    elif not audit.is_recorded(within=_ONCE_IN, **by.audit_author, **_WALL):
        record_latest_viewed([picture.camera], by)
    return send_picture(picture.content or b"")


def _audit(by: Requester, action: str, target: str, summary: Sentence) -> None:
    audit.record_once(within=_ONCE_IN, **by.audit_author, action=action, target=target, summary=summary)
