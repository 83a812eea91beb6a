"""Who looked at pictures of cameras, in the audit log.

Pages draw pictures anew all the time, so that a look is written down once an hour for each person and what was shown.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from portal.core.cameras.models import Camera
from portal.core.intents.record import Asker
from portal.core.timers.clock import ClockTime
from portal.core.ui.times import local
from tenants import audit
from tenants.models import AuditEntry
from tenants.wording import Said, say

_ONCE_IN = timedelta(hours=1)


def at_wall(by: Asker) -> None:
    """Note that somebody looked at the wall."""
    _note(by, "camera.wall", "cameras", say("camera.wall"))


def at_latest(cameras: Iterable[Camera], by: Asker) -> None:
    """Note that somebody looked at the latest pictures of these cameras."""
    for camera in cameras:
        _note(by, "camera.latest", f"camera:{camera.camera_id}", say("camera.latest", camera=str(camera)))


def at_moment(camera: Camera, at: datetime, by: Asker) -> None:
    """Note that somebody looked at a camera's picture of a moment of the past."""
    summary = say("camera.picture", camera=str(camera), at=f"{local(at):%Y-%m-%d %H:%M:%S}")
    _note(by, "camera.picture", f"camera:{camera.camera_id}", summary)


def _note(by: Asker, action: str, target: str, summary: Said) -> None:
    known = AuditEntry.objects.filter(target=target[:200], at__gt=ClockTime() - _ONCE_IN, action=action, by=by.user)
    if any(each.summary == summary for each in known.filter(support_session=by.support_session).only("summary")):
        return
    with transaction.atomic():
        audit.record(**by.author, action=action, target=target, summary=summary)
