"""Draw a person's day as a timeline with a lane for each place: entries, exits, refusals and time inside.

A door's `in_out` shows which area a person entered or left. If an area has doors of both kinds, the time from an entry
to the next exit is time inside. Without a recorded exit, the end of the stay is open.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accessapi.overrides import Catalogue
from portal.base.ui.times import duration_words
from portal.base.ui.value_words import join_values
from portal.domain.history.coverage import Gap
from portal.domain.history.models import History
from portal.domain.places import queries as mirror
from portal.domain.places.queries import DoorArea
from portal.history.days import LogDay, RecordType, type_of

# How many records of a day are drawn and listed. One person has fewer, but records with a shared ID may have more.
MAX_RECORDS = 500
# These hours are always drawn, so that working days can be compared.
_MORNING, _EVENING = 7, 21
KINDS = ("in", "out", "refused", "alarm", "key", "other")


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """A record on a lane. `kind`, one of KINDS, is its shape."""

    record: History
    kind: str
    x: str


@dataclass(frozen=True, slots=True)
class Stay:
    """Time inside an area. Without `until`, no exit was recorded."""

    since: datetime
    until: datetime | None
    x: str
    width: str

    @property
    def minutes(self) -> int:
        return round((self.until - self.since).total_seconds() / 60) if self.until else 0


@dataclass
class TimelineLane:
    """A lane for a place: an area, or a door without an area."""

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
        """Return the stay without an end; there is one at most."""
        return next((stay for stay in self.stays if stay.until is None), None)

    @property
    def doors_words(self) -> str:
        return join_values(name for name in self.doors.values() if name != self.name)


@dataclass(frozen=True, slots=True)
class TimelineScale:
    """The hours that are drawn. It converts moments of the day to positions in percent."""

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
        """Return (position, time) of the grid lines: every 2 hours of a working day, every 3 hours of a whole day."""
        step = 2 if self.last - self.first <= 16 else 3
        span = self.last - self.first
        return [
            (f"{100 * (h - self.first) / span:.3f}%", f"{h:02d}:00") for h in range(self.first, self.last + 1, step)
        ]


@dataclass(frozen=True)
class Timeline:
    """The drawn timeline. Lanes are in the order of the first visit."""

    scale: TimelineScale
    lanes: Sequence[TimelineLane]
    marks: Mapping[int, TimelineMark]
    gaps: Sequence[tuple[str, str]]
    now: str

    @property
    def kinds(self) -> list[str]:
        """Return the shapes that occur, for the legend."""
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
    """Return the person's records of this day, the oldest first."""
    found = records.filter(member_id=member_id, at__gte=day.start, at__lt=day.end).exclude(member_id="")
    return found.order_by("at", "pk")


def draw_timeline(day: LogDay, records: Sequence[History], catalogue: Catalogue) -> Timeline:
    """Draw a day's records, given with the oldest first."""
    places, scale = mirror.areas_by_door(), TimelineScale.for_moments(day, [record.at for record in records])
    lanes: dict[str, TimelineLane] = {}
    marks = {}
    for record in records:
        place = _place(record, places)
        lane = lanes.setdefault(place.area_id or f"door {record.device_id}", TimelineLane(place.name, place.area_id))
        lane.doors[record.device_id] = record.device_name or record.device_id
        mark = TimelineMark(record, _kind(record, place, catalogue), scale.x(record.at))
        lane.marks.append(mark)
        marks[record.pk] = mark
    for area_id, since, until in stays(records, places, catalogue):
        if area_id in lanes:
            lanes[area_id].stays.append(_draw_stay(scale, since, until))
    gaps = [_draw_gap(scale, gap) for gap in day.missing]
    now = scale.x(timezone.now()) if day.day.is_today else ""
    return Timeline(scale, list(lanes.values()), marks, gaps, now)


def stays(
    records: Iterable[History], places: Mapping[str, Sequence[DoorArea]], catalogue: Catalogue
) -> Iterator[tuple[str, datetime, datetime | None]]:
    """Yield (area, since, until) for the time inside areas that have entries and exits.

    `records` are in order of time.
    """
    areas_by_side = [
        {each.area_id for at in places.values() for each in at if each.side == side} for side in ("in", "out")
    ]
    both = areas_by_side[0] & areas_by_side[1]
    inside: dict[str, datetime] = {}
    for record in records:
        if record.units or type_of(record, catalogue) != RecordType.ENTRY:
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
    """Return the number of records, the first and last passage, and the minutes in areas."""
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
    """Return the area that the record's door leads into, else the area it leads out of, else the door itself."""
    at = sorted(places.get(record.device_id, ()), key=lambda place: place.side != "in")
    return at[0] if at else DoorArea(record.device_name or record.device_id, "", "")


def _kind(record: History, place: DoorArea, catalogue: Catalogue) -> str:
    sort = type_of(record, catalogue)
    if sort != RecordType.ENTRY:
        return sort.value
    if record.units:
        return "key"
    return "out" if place.side == "out" else "in"


def _draw_stay(scale: TimelineScale, since: datetime, until: datetime | None) -> Stay:
    """Return a drawn stay. Without an end it is drawn until now, or half an hour long on past days."""
    end = until or (timezone.now() if scale.day.day.is_today else since + timedelta(minutes=30))
    return Stay(since, until, scale.x(since), scale.width(since, max(since, end)))


def _draw_gap(scale: TimelineScale, gap: Gap) -> tuple[str, str]:
    return scale.x(gap.since), scale.width(gap.since, gap.until)
