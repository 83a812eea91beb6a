"""A person's week at a place, drawn day by day with its dates, holidays and the moment in question."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext as _

from accessapi.permissions import Holidays
from accessapi.permissions.openings import Openings
from portal.core.ui.times import local


@dataclass(frozen=True)
class Span:
    """A stretch of a day in minutes from 00:00, open or of which nothing can be told."""

    start: float
    width: float
    words: str
    doubtful: bool = False


@dataclass(frozen=True)
class Day:
    """One row of the picture. `marked`: minutes at which the moment stands, on its day."""

    date: date
    name: str
    holiday: str | None
    spans: list[Span]
    marked: float | None = None

    @property
    def words(self) -> str:
        return ", ".join(span.words for span in self.spans) or _("closed")


LEFT, MINUTE = 150, 1  # where 00:00 stands in the picture, and how wide a minute is


def hours() -> list[tuple[int, str]]:
    """Where the hours stand, with what is written there."""
    return [(LEFT + hour * 60 * MINUTE, f"{hour:02d}" if not hour % 3 else "") for hour in range(25)]


def drawn(openings: Openings, holidays: Holidays, monday: date, at: datetime) -> list[Day]:
    """Seven days from `monday` on."""
    days = [monday + timedelta(days=number) for number in range(7)]
    moment = local(at)
    found = []
    for day in days:
        holiday = holidays.name(day)
        words = None if holiday is None else holiday or _("weekly holiday")
        marked = moment.hour * 60 + moment.minute + moment.second / 60 if day == moment.date() else None
        found.append(Day(day, str(WEEKDAYS_ABBR[day.weekday()]), words, list(_spans(openings, day)), marked))
    return found


def _spans(openings: Openings, day: date) -> Iterator[Span]:
    for each in openings.day(day):
        if each.allowed is False:
            continue
        start = each.start.hour * 60 + each.start.minute + each.start.second / 60
        minutes = (each.end - each.start).total_seconds() / 60
        yield Span(round(start, 2), round(minutes, 2), _times(start, start + minutes), each.allowed is None)


def _times(start: float, end: float) -> str:
    """`08:00–19:00`: both ends as people say them, the service's last second counted in."""
    first, last = int(start), round(end)
    return f"{first // 60:02d}:{first % 60:02d}–{last // 60:02d}:{last % 60:02d}"
