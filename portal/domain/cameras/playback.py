"""Play video (operation 31), live or recorded: each viewing is requested, limited, reserved and audited.

Only pages that play video allow the environment's media hosts.
"""

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.errors import ServiceError
from accessapi.limits import STREAMING_SECONDS_MAX, VIDEO_RETENTION_DAYS
from accessapi.resources.cameras import StreamingSession
from portal.base.timers.clock import database_now
from portal.base.ui import live_updates
from portal.base.ui.times import local
from portal.base.ui.url_lookup import get_row_or_404, is_row_number
from portal.domain.budget.client import client
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import pictures, usage
from portal.domain.cameras.models import Camera, Viewing
from portal.domain.cameras.pictures import TROUBLES
from portal.domain.intents.recording import Requester
from portal.domain.sync import single_reads
from tenants import audit
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, Tenant
from tenants.sentences import coded_sentence

# An address that ends within this time is not given to another viewer.
_MIN_VALID_FOR = timedelta(seconds=usage.LIVE_SECONDS + 30)
# A live viewing ends with its address and is then renewed, but lasts at least this long.
_MIN_DURATION = timedelta(seconds=30)


class VideoUnavailable(Exception):
    """No video is shown; the text gives the reason."""


def play_live(connection: Connection, camera: Camera, *, by: Requester, incident: bool = False) -> Viewing:
    """Return a viewing of a camera's live video, for usage.LIVE_SECONDS. Raises VideoUnavailable."""
    viewing = Viewing(camera=camera, seconds=usage.LIVE_SECONDS, by=by.user, support_session=by.support_session)
    return _begin(connection, viewing, by=by, incident=incident)


def play_recording(
    connection: Connection, camera: Camera, since: datetime, seconds: int, *, by: Requester, incident: bool = False
) -> Viewing:
    """Return a viewing of these seconds of a recording, ten minutes at most. Raises VideoUnavailable."""
    seconds = min(seconds, STREAMING_SECONDS_MAX)
    until = since + timedelta(seconds=seconds)
    viewing = Viewing(
        camera=camera, since=since, until=until, seconds=seconds, by=by.user, support_session=by.support_session
    )
    return _begin(connection, viewing, by=by, incident=incident)


def stop_live(viewing: Viewing) -> None:
    """Record that a live viewing has ended, and release the rest of its reserved seconds."""
    now = database_now()
    if viewing.since is None and viewing.ends_at > now:
        viewing.seconds = max(0, min(viewing.seconds, round((now - viewing.began_at).total_seconds()) + 10))
        viewing.ends_at = now
        viewing.save(update_fields=["seconds", "ends_at"])


def _begin(connection: Connection, viewing: Viewing, *, by: Requester, incident: bool) -> Viewing:
    if not connection.is_connected:
        raise VideoUnavailable(_("The connection to the service is not working."))
    _reserve(connection, viewing, by=by, incident=incident)
    camera, since, until = viewing.camera, viewing.since, viewing.until
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


def _reserve(connection: Connection, viewing: Viewing, *, by: Requester, incident: bool) -> None:
    """Save a viewing without an address, if the period has room for it. The lock on the tenant prevents overuse."""
    with contextlib.suppress(ServiceError):  # without a new count, the last one plus later reservations is used
        usage.refresh_if_old(connection, Priority.PEOPLE)
    with transaction.atomic():
        Tenant.objects.select_for_update(no_key=True).get(pk=by.tenant.pk)
        meter = usage.current_usage().streaming
        if not meter.has_room(viewing.seconds, incident=incident):
            raise VideoUnavailable(_limit_text(meter, incident=incident))
        viewing.ends_at = database_now() + timedelta(seconds=viewing.seconds)
        viewing.save(force_insert=True)


def _limit_text(meter: usage.VideoMeter, *, incident: bool) -> str:
    if incident or not meter.left:
        return _("No video was started. The streaming limit of this period is used up. Try again in the next period.")
    return _("No video was started. What is left of this period is reserved for incidents. Ask a facility manager.")


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
    query = {"since": since, "until": until} if since else {}

    def ask(line: Connection) -> StreamingSession:
        path = {"camera_id": camera.camera_id}
        answer = client(line, Priority.PEOPLE).call("camera_streaming", path=path, query=query)
        return StreamingSession.model_validate(answer.data)

    try:
        session = single_reads.read_for_page(ask, str(TROUBLES["missing"]))
    except single_reads.ReadFailed as why:
        raise VideoUnavailable(why.text) from None
    if not session.streaming_url:
        raise VideoUnavailable(_("No video available."))
    if not pictures.is_media_address(connection.tenant.environment, session.streaming_url):
        raise VideoUnavailable(_("No video: its address is not allowed. Contact the operator of the portal."))
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


def allow_media(request: TenantRequest, response: HttpResponse) -> HttpResponse:
    """Allow the environment's media hosts in the page's content security policy."""
    hosts = list(pictures.media_hosts(request.tenant.environment))
    policy: Any = response
    policy._csp_update = {"media-src": ["blob:", *hosts], "connect-src": hosts}
    return response


def viewing_of(request: TenantRequest, camera: Camera) -> Viewing | None:
    """Return the viewing named in the address, if it belongs to this person and has not ended.

    The parts of an open page are drawn as beside a viewing also after its end: the page continues it with a new one.
    """
    pk = request.GET.get("watch", "")
    if not is_row_number(pk):
        return None
    mine = Viewing.objects.filter(camera=camera, by=request.user, pk=pk)
    return (mine if live_updates.is_poll(request) else mine.filter(ends_at__gt=timezone.now())).first()


def seconds_left(viewing: Viewing | None) -> int:
    """Return the seconds that remain of a viewing before its page must request more."""
    return max(0, round((viewing.ends_at - timezone.now()).total_seconds())) if viewing else 0


def start_viewing(request: TenantRequest, page: str, begin: Callable[[], Viewing], at: str = "") -> HttpResponseBase:
    """Start a viewing and show it on its page, at the moment `at` of a day, or show why that failed."""
    try:
        viewing = begin()
    except VideoUnavailable as why:
        messages.error(request, str(why))
        return redirect(f"{page}?at={at}" if at else page)
    return redirect(f"{page}?watch={viewing.pk}{f'&at={at}' if at else ''}#video")


def continue_viewing(request: TenantRequest, camera: Camera, pk: int, area: str) -> HttpResponse:
    """Continue a person's live viewing. Return its new addresses in `area` as JSON."""
    before = get_row_or_404(Viewing.objects.filter(camera=camera, by=request.user), pk=pk)
    stop_live(before)
    try:
        viewing = play_live(current_connection(), camera, by=Requester.from_request(request))
    except VideoUnavailable as why:
        return JsonResponse({"why": str(why)}, status=409)
    arguments = [request.tenant.slug, camera.camera_id, viewing.pk]
    addresses = {"go_on": reverse(f"{area}:go_on", args=arguments), "stop": reverse(f"{area}:stop", args=arguments)}
    return JsonResponse(addresses | {"seconds": seconds_left(viewing), "address": viewing.address})


def validate_moment(at: datetime) -> datetime:
    """Return a moment for which there may be a recording. Raises ValidationError."""
    if at > timezone.now():
        raise ValidationError(_("This time is in the future. Choose an earlier time."))
    if at < timezone.now() - timedelta(days=VIDEO_RETENTION_DAYS):
        raise ValidationError(
            _("Recordings are kept for %(n)d days. Choose a later time.") % {"n": VIDEO_RETENTION_DAYS}
        )
    return at
