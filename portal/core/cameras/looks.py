"""Who looked at pictures of cameras, in the audit log.

Pages draw pictures anew all the time, so that a look is written down once an hour for each person and what was shown.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from portal.core.cameras.models import Camera, Picture
from portal.core.intents.record import Asker
from portal.core.ui.times import local
from tenants import audit
from tenants.wording import Said, say

_ONCE_IN = timedelta(hours=1)
_WALL: dict[str, Any] = {"action": "camera.wall", "target": "cameras", "summary": say("camera.wall")}


def at_wall(by: Asker) -> None:
    """Note that somebody looked at the wall, which shows every camera."""
    audit.record_once(within=_ONCE_IN, **by.author, **_WALL)


def at_latest(cameras: Iterable[Camera], by: Asker) -> None:
    """Note that somebody looked at the latest pictures of these cameras."""
    for camera in cameras:
        _note(by, "camera.latest", f"camera:{camera.camera_id}", say("camera.latest", camera=str(camera)))


def at_moment(camera: Camera, at: datetime, by: Asker) -> None:
    """Note that somebody looked at a camera's picture of a moment of the past."""
    summary = say("camera.picture", camera=str(camera), at=f"{local(at):%Y-%m-%d %H:%M:%S}")
    _note(by, "camera.picture", f"camera:{camera.camera_id}", summary)


def at_picture(picture: Picture, by: Asker) -> None:
    """Note that somebody is given a picture's bytes, by a page that is written down or by its address alone."""
    if picture.at is not None:
        at_moment(picture.camera, picture.at, by)
    elif not audit.is_recorded(within=_ONCE_IN, **by.author, **_WALL):
        at_latest([picture.camera], by)


def _note(by: Asker, action: str, target: str, summary: Said) -> None:
    audit.record_once(within=_ONCE_IN, **by.author, action=action, target=target, summary=summary)
