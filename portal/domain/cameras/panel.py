"""The cameras of a door on its page, and the video of a log record on its page."""

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from portal.domain.cameras import tiles, usage, viewing_log
from portal.domain.cameras.clips import clip_status
from portal.domain.cameras.models import Clip
from portal.domain.intents.recording import Requester
from portal.domain.mirror.models import History
from tenants.access import TenantRequest
from tenants.roles import Permission


def draw_cameras_of_door(request: TenantRequest) -> SafeString:
    """Draw the pictures of the request's door; nothing if no camera covers it."""
    match = request.resolver_match
    device_id = match.kwargs.get("device_id", "") if match else ""
    found = tiles.tiles_at_door(request, device_id)
    if not found:
        return SafeString("")
    viewing_log.record_latest_viewed([each.camera for each in found], Requester.from_request(request))
    context = {"tiles": found, "seen": tiles.version_of(found), "device_id": device_id}
    return render_to_string("cameras/at_door.html", context, request)


def draw_video_of_record(request: TenantRequest) -> SafeString:
    """Draw the status of a record's video for people who may see recordings; nothing for a record without a device."""
    record: History | None = getattr(request, "shown_record", None)
    if record is None or not record.device_id or not request.access.can(Permission.CAMERAS_RECORDED):
        return SafeString("")
    clip = clip_status(record, Clip.objects.filter(history_id=record.history_id).first())
    context = {"record": record, "clip": clip, "downloads": usage.current_usage().downloads}
    return render_to_string("cameras/of_record.html", context, request)
