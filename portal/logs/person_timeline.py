"""A person's day as a line of places: where they passed, where they were refused, and how long they were inside.

A door's `in_out` tells into which area somebody passed, or out of which. Where an area has doors of both kinds, the
time from one passing in to the next passing out is time inside; a passing out that was not recorded leaves it open.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accessapi.overrides import Catalogue
from portal.core.mirror import door_areas as mirror
from portal.core.mirror.coverage import Gap
from portal.core.mirror.door_areas import DoorArea
from portal.core.mirror.models import History
from portal.core.ui.times import duration_words
from portal.logs.days import LogDay
from portal.logs.record_types import RecordType, type_of

# Records of one day that are drawn and listed. Nobody passes that often; a record with a shared ID might.
MAX_RECORDS = 500
# Hours that are always drawn: a working day looks the same on each of them.
_MORNING, _EVENING = 7, 21
KINDS = ("in", "out", "refused", "alarm", "key", "other")


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """A record on a lane: `kind`, one of KINDS, is its shape."""

    record: History
    kind: str
    x: str


@dataclass(frozen=True, slots=True)
class Stay:
    """Time inside of an area; without `until`, no passing out was recorded."""

    since: datetime
    until: datetime | None
    x: str
    width: str

    @property
    def minutes(self) -> int:
        return round((self.until - self.since).total_seconds() / 60) if self.until else 0


@dataclass
class TimelineLane:
    """One place: an area, or a door that is in none."""

    name: str
    area_id: str = ""
    doors: dict[str, str] = field(default_factory=dict)
    marks: list[TimelineMark] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)

    @property
    def minutes(self) -> int:
        return sum(stay.minutes for stay in self.stays)

    @property
    def time_words(self) -> str:
        return duration_words(self.minutes) if self.minutes else ""

    @property
    def open_stay(self) -> Stay | None:
        """The stay without an end, of which there is one at most."""
        return next((stay for stay in self.stays if stay.until is None), None)

    @property
    def doors_words(self) -> str:
        return ", ".join(name for name in self.doors.values() if name != self.name)


@dataclass(frozen=True, slots=True)
class TimelineScale:
    """The hours that are drawn, and where a moment of the day stands between them in percent."""

    day: LogDay
    first: int
    last: int

    @classmethod
    def for_moments(cls, day: LogDay, moments: Sequence[datetime]) -> "TimelineScale":
        minutes = [day.minutes_into_day(at) for at in moments]
        is_usual = all(_MORNING * 60 <= at <= _EVENING * 60 for at in minutes)
        return cls(day, _MORNING, _EVENING) if is_usual else cls(day, 0, 24)

    def at(self, moment: datetime) -> float:
        share = (self.day.minutes_into_day(moment) / 60 - self.first) / (self.last - self.first)
        return min(max(100 * share, 0), 100)

    def x(self, moment: datetime) -> str:
        return f"{self.at(moment):.3f}%"

    def width(self, since: datetime, until: datetime) -> str:
        return f"{self.at(until) - self.at(since):.3f}%"

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """(where, what time) of the lines: every other hour of a working day, every third of a whole one."""
        step = 2 if self.last - self.first <= 16 else 3
        span = self.last - self.first
        return [
            (f"{100 * (h - self.first) / span:.3f}%", f"{h:02d}:00") for h in range(self.first, self.last + 1, step)
        ]


@dataclass(frozen=True)
class Timeline:
    """The drawing: lanes in the order in which they were first visited."""

    scale: TimelineScale
    lanes: Sequence[TimelineLane]
    marks: Mapping[int, TimelineMark]
    gaps: Sequence[tuple[str, str]]
    now: str

    @property
    def kinds(self) -> list[str]:
        """Those of the shapes that stand on it, for its legend."""
        drawn = {mark.kind for mark in self.marks.values()}
        return [kind for kind in KINDS if kind in drawn]

    @property
    def has_stays(self) -> bool:
        return any(lane.stays for lane in self.lanes)


@dataclass(frozen=True)
class DayFigures:
    entries: int
    refused: int
    first: History | None
    last: History | None
    minutes: int

    @property
    def time_words(self) -> str:
        return duration_words(self.minutes) if self.minutes else ""


def records_on_day(records: QuerySet[History], member_id: str, day: LogDay) -> QuerySet[History]:
    """Return those of the records that are about the person and of the day, the oldest first."""
    found = records.filter(member_id=member_id, at__gte=day.start, at__lt=day.end).exclude(member_id="")
    return found.order_by("at", "pk")


def draw_timeline(day: LogDay, records: Sequence[History], words: Catalogue) -> Timeline:
    """Draw a day's records, the oldest first."""
    places, scale = mirror.areas_by_door(), TimelineScale.for_moments(day, [record.at for record in records])
    lanes: dict[str, TimelineLane] = {}
    marks = {}
    for record in records:
        place = _place(record, places)
        lane = lanes.setdefault(place.area_id or f"door {record.device_id}", TimelineLane(place.name, place.area_id))
        lane.doors[record.device_id] = record.device_name or record.device_id
        mark = TimelineMark(record, _kind(record, place, words), scale.x(record.at))
        lane.marks.append(mark)
        marks[record.pk] = mark
    for area_id, since, until in stays(records, places, words):
        if area_id in lanes:
            lanes[area_id].stays.append(_draw_stay(scale, since, until))
    gaps = [_draw_gap(scale, gap) for gap in day.missing]
    now = scale.x(timezone.now()) if day.day.is_today else ""
    return Timeline(scale, list(lanes.values()), marks, gaps, now)


def stays(
    records: Iterable[History], places: Mapping[str, Sequence[DoorArea]], words: Catalogue
) -> Iterator[tuple[str, datetime, datetime | None]]:
    """(area, since, until) of times inside: of areas with doors in and doors out, from records in their order."""
    sided = [{each.area_id for at in places.values() for each in at if each.side == side} for side in ("in", "out")]
    both = sided[0] & sided[1]
    inside: dict[str, datetime] = {}
    for record in records:
        if record.units or type_of(record, words) != RecordType.ENTRY:
            continue
        for place in places.get(record.device_id, ()):
            if place.area_id not in both:
                continue
            if place.side == "in":
                inside.setdefault(place.area_id, record.at)
            elif place.side == "out" and (since := inside.pop(place.area_id, None)) is not None:
                yield place.area_id, since, record.at
    yield from ((area_id, since, None) for area_id, since in inside.items())


def day_figures(records: Sequence[History], drawn: Timeline) -> DayFigures:
    """Counts of the day, the first and the last passing, and the minutes in areas."""
    kinds = [drawn.marks[record.pk].kind for record in records]
    passed = [record for record, kind in zip(records, kinds, strict=True) if kind in ("in", "out")]
    return DayFigures(
        entries=len(passed),
        refused=kinds.count(RecordType.REFUSED),
        first=passed[0] if passed else None,
        last=passed[-1] if passed else None,
        minutes=sum(lane.minutes for lane in drawn.lanes),
    )


def _place(record: History, places: Mapping[str, Sequence[DoorArea]]) -> DoorArea:
    """The area into which the record's door leads, else out of which, else the door itself."""
    at = sorted(places.get(record.device_id, ()), key=lambda place: place.side != "in")
    return at[0] if at else DoorArea(record.device_name or record.device_id, "", "")


def _kind(record: History, place: DoorArea, words: Catalogue) -> str:
    sort = type_of(record, words)
    if sort != RecordType.ENTRY:
        return sort.value
    if record.units:
        return "key"
    return "out" if place.side == "out" else "in"


def _draw_stay(scale: TimelineScale, since: datetime, until: datetime | None) -> Stay:
    """A stay that has no end is drawn until now, on a day that is over for half an hour."""
    end = until or (timezone.now() if scale.day.day.is_today else since + timedelta(minutes=30))
    return Stay(since, until, scale.x(since), scale.width(since, max(since, end)))


def _draw_gap(scale: TimelineScale, gap: Gap) -> tuple[str, str]:
    return scale.x(gap.since), scale.width(gap.since, gap.until)
