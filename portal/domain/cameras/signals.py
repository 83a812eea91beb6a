"""Register the cameras' parts of a door's and a record's page, settings and timers."""

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.timers import celery_app, rounds, timer_registry
from portal.base.ui import panels
from portal.domain.cameras import clips, door_command_pictures, refreshing, tiles, usage
from portal.domain.cameras.alert_stills import draw_stills_of_alert
from portal.domain.cameras.clips import clip_status
from portal.domain.cameras.models import Camera, Clip
from portal.domain.history.models import History
from portal.domain.intents.recording import Requester
from portal.domain.safety import rules
from tenants.access import TenantRequest
from tenants.audit_log import targets
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_targets


def draw_cameras_of_door(request: TenantRequest) -> SafeString:
    """Draw the pictures of the request's door; nothing if no camera covers it."""
    match = request.resolver_match
    device_id = match.kwargs.get("device_id", "") if match else ""
    found = tiles.tiles_at_door(request, device_id)
    if not found:
        return SafeString("")
    tiles.record_latest_viewed([each.camera for each in found], Requester.from_request(request))
    context = {"tiles": found, "version": tiles.version_of(found), "device_id": device_id}
    return render_to_string("cameras/at_door.html", context, request)


def draw_video_of_record(request: TenantRequest) -> SafeString:
    """Draw the status of a record's video for people who may see recordings; nothing for a record without a device."""
    record: History | None = getattr(request, "shown_record", None)
    if record is None or not record.device_id or not request.access.can(Permission.CAMERAS_RECORDED):
        return SafeString("")
    clip = clip_status(record, Clip.objects.filter(history_id=record.history_id).first())
    context = {"record": record, "clip": clip, "downloads": usage.current_usage().downloads}
    return render_to_string("cameras/of_record.html", context, request)


clips.CLIPS.register()
rules.register(door_command_pictures.RULE)
door_command_pictures.PICTURES.register()
panels.register("door", draw_cameras_of_door)
panels.register("record", draw_video_of_record)
panels.register("alert", draw_stills_of_alert)
celery_app.declare(refreshing.READ_IN_SIGHT, refreshing.read_in_sight, queue="sync", seconds=280)
timer_registry.register(
    "cameras_in_sight", refreshing.check_due, every=10.0, queue="sync", due_rows=refreshing.rows_in_sight
)
rounds.register("camera_leftovers", refreshing.delete_old, every=1800.0, queue="sync")


register_sentences(
    {
        "safety_rule.command_pictures": pgettext_lazy("safety rule", "Camera settings"),
        "camera.added": _("Camera added: %(camera)s"),
        "camera.edited": _("Camera changed: %(camera)s"),
        "camera.settings": _("Camera settings changed"),
        "camera.removed": _("Camera removed: %(camera)s"),
        "camera.wall": _("Pictures of cameras viewed"),
        "camera.latest": _("Latest picture viewed: %(camera)s"),
        "camera.live": _("Live video of a camera viewed: %(camera)s"),
        "camera.recorded": _("Recording viewed: %(camera)s, %(since)s to %(until)s"),
        "camera.clip": _("Video of a log record viewed: %(camera)s, %(at)s"),
        "camera.picture": _("Picture viewed: %(camera)s, %(at)s"),
    }
)
register_targets(
    {
        "camera": _("Camera"),
        "cameras": _("All cameras"),
        "camera:settings": pgettext_lazy("safety rule", "Camera settings"),
    }
)
targets.register_names("camera", Camera, "camera_id", "name")
