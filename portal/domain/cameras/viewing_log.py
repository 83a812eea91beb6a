"""The audit log of views of cameras' pictures.

Pages refresh pictures all the time, so a view is recorded once an hour per person and target.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from portal.base.ui.times import local
from portal.domain.cameras.models import Camera, Picture
from portal.domain.intents.recording import Requester
from tenants import audit
from tenants.wording import Sentence, coded_sentence

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


def record_picture_viewed(picture: Picture, by: Requester) -> None:
    """Record that a person loads a picture's bytes, from a page or by its address alone."""
    if picture.at is not None:
        _record_moment_viewed(picture.camera, picture.at, by)
    elif not audit.is_recorded(within=_ONCE_IN, **by.audit_author, **_WALL):
        record_latest_viewed([picture.camera], by)


def _audit(by: Requester, action: str, target: str, summary: Sentence) -> None:
    audit.record_once(within=_ONCE_IN, **by.audit_author, action=action, target=target, summary=summary)
