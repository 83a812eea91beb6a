"""A camera's pictures from just before and after an alert. A missing one is loaded only when a person requests it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import pgettext

from accessapi.limits import VIDEO_RETENTION_DAYS
from portal.base.ui.times import local
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.cameras.models import Camera, Picture
from portal.domain.cameras.pictures import trouble_text
from tenants.access import TenantRequest
from tenants.roles import Permission

_AWAY = timedelta(seconds=10)


@dataclass(frozen=True)
class Still:
    """A camera's picture of a moment. `source` is its address, empty if it is not loaded; `problem` says why."""

    label: str
    at: datetime
    source: str = ""
    problem: str = ""

    @property
    def input_value(self) -> str:
        """Return the moment for the form that loads the picture, in service time."""
        return f"{local(self.at):%Y-%m-%dT%H:%M:%S}"


def draw_stills_of_alert(request: TenantRequest) -> SafeString:
    """Draw the cameras of the door of `request.shown_alert`; nothing if no camera covers it."""
    alert = getattr(request, "shown_alert", None)
    if alert is None or not alert.door_id or not request.access.can(Permission.CAMERAS_VIEW):
        return SafeString("")
    cameras = list(Camera.objects.filter(doors__contains=[alert.door_id]).order_by("name_order", "pk"))
    if not cameras:
        return SafeString("")
    stills = list(_stills(request, cameras, alert.began_at.replace(microsecond=0)))
    return render_to_string("cameras/of_alert.html", {"alert": alert, "cameras": stills}, request)


def _stills(request: TenantRequest, cameras: Sequence[Camera], at: datetime) -> Iterator[tuple[Camera, list[Still]]]:
    """Yield each camera with its pictures, as far as this person may view recordings and the service keeps them."""
    now = timezone.now()
    kept_from = now - timedelta(days=VIDEO_RETENTION_DAYS)
    moments = {pgettext("alert", "Before, %(time)s"): at - _AWAY, pgettext("alert", "After, %(time)s"): at + _AWAY}
    may_view = request.access.can(Permission.CAMERAS_RECORDED)
    shown = {text: moment for text, moment in moments.items() if may_view and kept_from < moment <= now}
    rows = Picture.objects.filter(camera__in=cameras, at__in=shown.values()).defer("content") if shown else ()
    found = {(row.camera_id, row.at): row for row in rows}
    for camera in cameras:
        yield camera, [_still(request, camera, text, at, found.get((camera.pk, at))) for text, at in shown.items()]


def _still(request: TenantRequest, camera: Camera, text: str, at: datetime, picture: Picture | None) -> Still:
    label = text % {"time": f"{local(at):%H:%M:%S}"}
    if picture is None:
        return Still(label, at)
    if not picture.mark:
        return Still(label, at, problem=trouble_text(picture.trouble))
    values = camera.camera_id, str(picture.pk), picture.mark
    return Still(label, at, url_in_tenant("cameras:picture", request.tenant.slug, *values))
