"""The cameras of a door on its page, and the video of a record on its."""

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from portal.core.cameras import looks, tiles, usage
from portal.core.cameras.clips import said_of
from portal.core.cameras.models import Clip
from portal.core.intents.record import Asker
from portal.core.mirror.models import History
from portal.core.ui import panels
from tenants.access import TenantRequest
from tenants.roles import Permission


def draw(request: TenantRequest) -> SafeString:
    """Draw the pictures of the door that the request is for; nothing where no camera looks at it."""
    match = request.resolver_match
    device_id = match.kwargs.get("device_id", "") if match else ""
    found = tiles.at_door(request, device_id)
    if not found:
        return SafeString("")
    looks.at_latest([each.camera for each in found], Asker.of(request))
    context = {"tiles": found, "seen": tiles.mark_of(found), "device_id": device_id}
    return render_to_string("cameras/at_door.html", context, request)


def draw_for_record(request: TenantRequest) -> SafeString:
    """Draw what is known of a record's video, for those who may see recordings; nothing for a record of no device."""
    record: History | None = getattr(request, "shown_record", None)
    if record is None or not record.device_id or not request.access.can(Permission.CAMERAS_RECORDED):
        return SafeString("")
    clip = said_of(record, Clip.objects.filter(history_id=record.history_id).first())
    context = {"record": record, "clip": clip, "downloads": usage.known().downloads}
    return render_to_string("cameras/of_record.html", context, request)


def register() -> None:
    panels.register("door", draw)
    panels.register("record", draw_for_record)
