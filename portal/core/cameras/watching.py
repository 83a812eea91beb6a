"""Looking at video (operation 31): each look asked for, limited, set apart from the period, and written down."""

import contextlib
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from accessapi.errors import ServiceError
from accessapi.limits import STREAMING_SECONDS_MAX
from accessapi.resources.cameras import StreamingSession
from portal.core.budget.client import client
from portal.core.budget.priorities import Priority
from portal.core.cameras import media, usage
from portal.core.cameras.models import Camera, Viewing
from portal.core.cameras.pictures import TROUBLES
from portal.core.intents.record import Asker
from portal.core.mirror import reading
from portal.core.timers.clock import database_now
from portal.core.ui.times import local
from tenants import audit
from tenants.models import Connection, Tenant
from tenants.wording import say

# An address that ends within this is not given to somebody new.
_LEAST_LEFT = timedelta(seconds=usage.LIVE_SECONDS + 30)
# A live look at an address that ends sooner than its time is renewed then, but not more often than this.
_SHORTEST = timedelta(seconds=30)


class NotWatched(Exception):
    """No video is shown; the text says why."""


def live(connection: Connection, camera: Camera, *, by: Asker, incident: bool = False) -> Viewing:
    """Return a look at a camera's live video, for usage.LIVE_SECONDS. Raises NotWatched."""
    return _begin(connection, camera, None, None, usage.LIVE_SECONDS, by=by, incident=incident)


def recorded(
    connection: Connection, camera: Camera, since: datetime, seconds: int, *, by: Asker, incident: bool = False
) -> Viewing:
    """Return a look at so many seconds of a recording, ten minutes at most. Raises NotWatched."""
    seconds = min(seconds, STREAMING_SECONDS_MAX)
    until = since + timedelta(seconds=seconds)
    return _begin(connection, camera, since, until, seconds, by=by, incident=incident)


def stop(viewing: Viewing) -> None:
    """Note that a live look has ended; what was not watched of it is not set apart any more."""
    now = database_now()
    if viewing.since is None and viewing.ends_at > now:
        viewing.seconds = max(0, min(viewing.seconds, round((now - viewing.began_at).total_seconds()) + 10))
        viewing.ends_at = now
        viewing.save(update_fields=["seconds", "ends_at"])


def _begin(
    connection: Connection,
    camera: Camera,
    since: datetime | None,
    until: datetime | None,
    seconds: int,
    *,
    by: Asker,
    incident: bool,
) -> Viewing:
    if not connection.is_connected:
        raise NotWatched(_("The connection to the service is not working."))
    viewing = _set_apart(connection, camera, since, until, seconds, by=by, incident=incident)
    try:
        address, expires_at = _address(connection, camera, since, until)
    except NotWatched:
        viewing.delete()
        raise
    viewing.address, viewing.expires_at = address, expires_at
    if since is not None:  # a recording can be played again while its address is good
        viewing.ends_at = max(viewing.ends_at, expires_at or viewing.ends_at)
    elif expires_at is not None:
        viewing.ends_at = min(viewing.ends_at, max(expires_at, database_now() + _SHORTEST))
    with transaction.atomic():
        viewing.save(update_fields=["address", "expires_at", "ends_at"])
        _write_down(camera, since, until, by=by)
    return viewing


def _set_apart(
    connection: Connection,
    camera: Camera,
    since: datetime | None,
    until: datetime | None,
    seconds: int,
    *,
    by: Asker,
    incident: bool,
) -> Viewing:
    """Keep a look that has no address yet, where the period has room for it: one person after the other."""
    with contextlib.suppress(ServiceError):  # what is known stands, with all that was set apart since
        usage.refresh(connection, Priority.PEOPLE)
    with transaction.atomic():
        Tenant.objects.select_for_update(no_key=True).get(pk=by.tenant.pk)
        meter = usage.known().streaming
        if not meter.has_room(seconds, incident=incident):
            raise NotWatched(_limit_in_words(meter, incident=incident))
        ends_at = database_now() + timedelta(seconds=seconds)
        return Viewing.objects.create(
            camera=camera,
            by=by.user,
            support_session=by.support_session,
            since=since,
            until=until,
            seconds=seconds,
            ends_at=ends_at,
        )


def _limit_in_words(meter: usage.Meter, *, incident: bool) -> str:
    if incident or not meter.left:
        return _("The streaming limit of this period is used up. Video plays again when the next period begins.")
    return _("Only the share kept for incidents is left of this period’s streaming limit.")


def _address(
    connection: Connection, camera: Camera, since: datetime | None, until: datetime | None
) -> tuple[str, datetime | None]:
    """Return an address that plays this, and when it ends: one that somebody watches already, or a new one."""
    soon = database_now() + _LEAST_LEFT
    for known in Viewing.objects.filter(camera=camera, since=since, until=until, expires_at__gt=soon).order_by("-pk")[
        :1
    ]:
        if known.address:
            return known.address, known.expires_at
    asked = {"since": since, "until": until} if since else {}

    def ask(line: Connection) -> StreamingSession:
        path = {"camera_id": camera.camera_id}
        answer = client(line, Priority.PEOPLE).call("camera_streaming", path=path, query=asked)
        return StreamingSession.model_validate(answer.data)

    try:
        session = reading.read_for_page(ask, str(TROUBLES["missing"]))
    except reading.NotRead as why:
        raise NotWatched(str(why)) from None
    if not session.streaming_url:
        raise NotWatched(_("The service gave no video."))
    if not media.is_allowed(connection.tenant.environment, session.streaming_url):
        raise NotWatched(_("The video is at an address that the operator has not allowed."))
    return session.streaming_url, session.expires_at


def _write_down(camera: Camera, since: datetime | None, until: datetime | None, *, by: Asker) -> None:
    target = f"camera:{camera.camera_id}"
    if since is None or until is None:
        audit.record(**by.author, action="camera.live", target=target, summary=say("camera.live", camera=str(camera)))
        return
    times = {"since": f"{local(since):%Y-%m-%d %H:%M:%S}", "until": f"{local(until):%H:%M:%S}"}
    summary = say("camera.recorded", camera=str(camera), since=times["since"], until=times["until"])
    audit.record(**by.author, action="camera.recorded", target=target, summary=summary, after=times)
