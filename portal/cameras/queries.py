"""What the pages of cameras show: the latest picture of each, and the timeline of a camera's day."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, npgettext

from accessapi.limits import VIDEO_RETENTION_DAYS
from accessapi.moments import read_day
from portal.base.ui.tables import EmptyState
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.times import local, parse_moment
from portal.base.ui.value_words import join_values
from portal.domain.cameras import refreshing
from portal.domain.cameras.models import Camera
from portal.domain.cameras.tiles import Tile, latest_pictures, tile_of, version_of
from portal.domain.history import visibility
from portal.domain.history.coverage import start_of_day
from portal.domain.history.models import History
from portal.domain.places.models import Area
from tenants.access import TenantRequest
from tenants.roles import Permission


class CameraWall:
    """The cameras of the request's tenant, filtered by the address."""

    def __init__(self, request: TenantRequest) -> None:
        self.request = request
        self.address = ListAddress(request.path, request.GET)

    @cached_property
    def cameras(self) -> list[Camera]:
        return list(Camera.objects.order_by("name_order", "pk").prefetch_related(latest_pictures()))

    @cached_property
    def selected_cameras(self) -> list[Camera]:
        area = self.address.get("area")
        return [camera for camera in self.cameras if not area or area in camera.areas]

    @cached_property
    def tiles(self) -> list[Tile]:
        return [tile_of(self.request, camera) for camera in self.selected_cameras]

    @property
    def version(self) -> str:
        return version_of(self.tiles)

    @property
    def headline(self) -> str:
        n = len(self.selected_cameras)
        return ngettext("%(n)d camera", "%(n)d cameras", n) % {"n": n}

    @property
    def missing_text(self) -> str:
        """Return how many cameras have no current picture, by cause; empty if all have one."""
        offline = sum(tile.tone == "hatched" for tile in self.tiles)
        without = sum(not tile.picture_url and tile.tone != "hatched" for tile in self.tiles)
        old = sum(bool(tile.picture_url) and tile.is_old and tile.tone != "hatched" for tile in self.tiles)
        causes = (
            (offline, npgettext("camera", "%(n)d offline", "%(n)d offline", offline)),
            (without, ngettext("%(n)d without a picture", "%(n)d without a picture", without)),
            (old, ngettext("%(n)d older than 15 minutes", "%(n)d older than 15 minutes", old)),
        )
        return join_values(words % {"n": n} for n, words in causes if n)

    @property
    def area_links(self) -> list[tuple[str, str, bool]]:
        """Return (name, address, whether selected) for all cameras and for each area with cameras."""
        area_ids = {area_id for camera in self.cameras for area_id in camera.areas}
        named = (
            Area.objects.filter(area_id__in=area_ids).order_by("name_order", "pk").values_list("area_id", "area_name")
        )
        chosen = self.address.get("area") or ""
        choices = [("", _("All areas")), *named]
        links = [(name, self.address.with_(area=area_id or None), area_id == chosen) for area_id, name in choices]
        return links if len(links) > 1 else []

    @property
    def empty(self) -> EmptyState | None:
        """Return why no camera is shown; None if there are some."""
        if self.selected_cameras:
            return None
        if self.cameras:
            return EmptyState(_("No cameras in this area"), _("Choose another area above."), "video")
        if self.request.access.can(Permission.CAMERAS_MANAGE):
            return EmptyState(
                _("No cameras yet"), _("Add cameras by their IDs. The IDs are on the member site."), "video"
            )
        return EmptyState(_("No cameras yet"), _("Ask a facility manager to add them."), "video")

    def record_view(self) -> None:
        """Record that the selected cameras are being viewed."""
        refreshing.mark_in_sight(self.selected_cameras)


# How many records the timeline shows, the newest of the day; a busy door has thousands.
MAX_RECORDS = 200
# A recording starts this long before the record.
_LEAD_TIME = timedelta(seconds=10)


@dataclass(frozen=True)
class TimelinePoint:
    """A record on the timeline: `x` in thousandths of the day, `moment` as the start of the recording."""

    record: History
    x: int
    moment: str
    is_alarming: bool


class CameraDay:
    """A day of a camera's doors. `moment` is the chosen one, or None."""

    def __init__(self, request: TenantRequest, camera: Camera) -> None:
        self.request, self.camera = request, camera
        self.moment = parse_moment(request.GET.get("at", ""))
        now = local(timezone.now())
        self.today, self.first_date = now.date(), now.date() - timedelta(days=VIDEO_RETENTION_DAYS)
        requested = read_day(request.GET.get("day", "")) or (self.moment.date() if self.moment else self.today)
        self.date = max(self.first_date, min(requested, self.today))

    @property
    def previous_date(self) -> date | None:
        return self.date - timedelta(days=1) if self.date > self.first_date else None

    @property
    def next_date(self) -> date | None:
        return self.date + timedelta(days=1) if self.date < self.today else None

    @property
    def starts_at(self) -> datetime:
        return start_of_day(self.date)

    @cached_property
    def records(self) -> list[History]:
        """Return the newest records of the day at the camera's doors that the person has access to, newest first."""
        if not self.camera.doors:
            return []
        rows = visibility.visible_records(self.request.access).filter(device_id__in=self.camera.doors)
        rows = rows.filter(at__gte=self.starts_at, at__lt=self.starts_at + timedelta(days=1))
        return list(rows.order_by("-at", "-pk")[: MAX_RECORDS + 1])

    @property
    def has_more(self) -> bool:
        return len(self.records) > MAX_RECORDS

    @property
    def points(self) -> list[TimelinePoint]:
        records = self.request.tenant.environment.catalogue.records
        loud = {*records.suspicious, *records.refused}
        return [
            TimelinePoint(each, self._position(each.at), to_input_value(each.at - _LEAD_TIME), each.category in loud)
            for each in self.records[:MAX_RECORDS]
        ]

    @property
    def hour_marks(self) -> list[tuple[int, int, str]]:
        """Return (hour, position in thousandths, moment) of every third hour."""
        return [
            (hour, round(1000 * hour / 24), to_input_value(self.starts_at + timedelta(hours=hour)))
            for hour in range(0, 24, 3)
        ]

    @property
    def chosen_position(self) -> int | None:
        """Return the chosen moment's position in thousandths of the day; None if it is on another day."""
        if self.moment is None or self.moment.date() != self.date:
            return None
        return self._position(self.moment)

    def _position(self, moment: datetime) -> int:
        return round(1000 * (moment - self.starts_at) / timedelta(days=1))


def to_input_value(moment: datetime) -> str:
    """Return a moment in the format of the browser's input, in service time."""
    return f"{local(moment):%Y-%m-%dT%H:%M:%S}"
