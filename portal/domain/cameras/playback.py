"""View video (operation 31). Each viewing is requested, limited, reserved in the period's limit and audited."""

import contextlib
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from accessapi.errors import ServiceError
from accessapi.limits import STREAMING_SECONDS_MAX
from accessapi.resources.cameras import StreamingSession
from portal.base.timers.clock import database_now
from portal.base.ui.times import local
from portal.domain.budget.client import client
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import media, usage
from portal.domain.cameras.models import Camera, Viewing
from portal.domain.cameras.pictures import TROUBLES
from portal.domain.intents.recording import Requester
from portal.domain.mirror import single_reads
from tenants import audit
from tenants.models import Connection, Tenant
from tenants.wording import coded_sentence

# An address that ends within this time is not given to another viewer.
_MIN_VALID_FOR = timedelta(seconds=usage.LIVE_SECONDS + 30)
# A live viewing ends with its address and is then renewed, but lasts at least this long.
_MIN_DURATION = timedelta(seconds=30)


class VideoUnavailable(Exception):
    """No video is shown; the text gives the reason."""


def play_live(connection: Connection, camera: Camera, *, by: Requester, incident: bool = False) -> Viewing:
    """Return a viewing of a camera's live video, for usage.LIVE_SECONDS. Raises VideoUnavailable."""
    return _begin(connection, camera, None, None, usage.LIVE_SECONDS, by=by, incident=incident)


def play_recording(
    connection: Connection, camera: Camera, since: datetime, seconds: int, *, by: Requester, incident: bool = False
) -> Viewing:
    """Return a viewing of these seconds of a recording, ten minutes at most. Raises VideoUnavailable."""
    seconds = min(seconds, STREAMING_SECONDS_MAX)
    until = since + timedelta(seconds=seconds)
    return _begin(connection, camera, since, until, seconds, by=by, incident=incident)


def stop_live(viewing: Viewing) -> None:
    """Record that a live viewing has ended, and release the rest of its reserved seconds."""
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
    by: Requester,
    incident: bool,
) -> Viewing:
    if not connection.is_connected:
        raise VideoUnavailable(_("The connection to the service is not working."))
    viewing = _reserve(connection, camera, since, until, seconds, by=by, incident=incident)
    try:
        address, expires_at = _address(connection, camera, since, until)
    except VideoUnavailable:
        viewing.delete()
        raise
    viewing.address, viewing.expires_at = address, expires_at
    if since is not None:  # a recording can be played again while its address is valid
        viewing.ends_at = max(viewing.ends_at, expires_at or viewing.ends_at)
    elif expires_at is not None:
        viewing.ends_at = min(viewing.ends_at, max(expires_at, database_now() + _MIN_DURATION))
    with transaction.atomic():
        viewing.save(update_fields=["address", "expires_at", "ends_at"])
        _audit(camera, since, until, by=by)
    return viewing


def _reserve(
    connection: Connection,
    camera: Camera,
    since: datetime | None,
    until: datetime | None,
    seconds: int,
    *,
    by: Requester,
    incident: bool,
) -> Viewing:
    """Save a viewing without an address, if the period has room for it. The lock on the tenant prevents overuse."""
    with contextlib.suppress(ServiceError):  # without a new count, the last one plus later reservations is used
        usage.refresh_if_old(connection, Priority.PEOPLE)
    with transaction.atomic():
        Tenant.objects.select_for_update(no_key=True).get(pk=by.tenant.pk)
        meter = usage.current_usage().streaming
        if not meter.has_room(seconds, incident=incident):
            raise VideoUnavailable(_limit_text(meter, incident=incident))
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


def _limit_text(meter: usage.VideoMeter, *, incident: bool) -> str:
    if incident or not meter.left:
        return _("The streaming limit of this period is used up. Video plays again when the next period begins.")
    return _("Only the share kept for incidents is left of this period’s streaming limit.")


def _address(
    connection: Connection, camera: Camera, since: datetime | None, until: datetime | None
) -> tuple[str, datetime | None]:
    """Return an address that plays this and its end: the address of another viewing, or a new one."""
    soon = database_now() + _MIN_VALID_FOR
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
        session = single_reads.read_for_page(ask, str(TROUBLES["missing"]))
    except single_reads.ReadFailed as why:
        raise VideoUnavailable(str(why)) from None
    if not session.streaming_url:
        raise VideoUnavailable(_("The service gave no video."))
    if not media.is_media_address(connection.tenant.environment, session.streaming_url):
        raise VideoUnavailable(_("The video is at an address that the operator has not allowed."))
    return session.streaming_url, session.expires_at


def _audit(camera: Camera, since: datetime | None, until: datetime | None, *, by: Requester) -> None:
    target = f"camera:{camera.camera_id}"
    if since is None or until is None:
        audit.record(
            **by.audit_author,
            action="camera.live",
            target=target,
            summary=coded_sentence("camera.live", camera=str(camera)),
        )
        return
    times = {"since": f"{local(since):%Y-%m-%d %H:%M:%S}", "until": f"{local(until):%H:%M:%S}"}
    summary = coded_sentence("camera.recorded", camera=str(camera), since=times["since"], until=times["until"])
    audit.record(**by.audit_author, action="camera.recorded", target=target, summary=summary, after=times)
