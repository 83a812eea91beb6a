"""The timeline of a camera's day with the records of its doors, to choose a moment of the recording."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.functional import cached_property

from accessapi.limits import VIDEO_RETENTION_DAYS
from accessapi.moments import read_day
from portal.base.ui.times import local, parse_moment
from portal.domain.cameras.models import Camera
from portal.domain.log import visibility
from portal.domain.mirror.coverage import start_of_day
from portal.domain.mirror.models import History
from tenants.access import TenantRequest

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
        asked = read_day(request.GET.get("day", "")) or (self.moment.date() if self.moment else self.today)
        self.date = max(self.first_date, min(asked, self.today))

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
        words = self.request.tenant.environment.catalogue.records
        loud = {*words.suspicious, *words.refused}
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
