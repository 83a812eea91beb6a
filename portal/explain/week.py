"""A person's week at a place for drawing, with dates, holidays and the moment of the question."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext as _

from accessapi.permissions import Holidays
from accessapi.permissions.opening_hours import OpeningHours
from portal.base.ui.times import local


@dataclass(frozen=True)
class OpenSpan:
    """A part of a day in minutes from 00:00, open or unknown."""

    start: float
    width: float
    words: str
    is_unknown: bool = False


@dataclass(frozen=True)
class WeekDay:
    """One row of the picture. `moment` is the moment of the question in minutes, on its day."""

    date: date
    name: str
    holiday: str | None
    spans: list[OpenSpan]
    moment: float | None = None

    @property
    def words(self) -> str:
        return ", ".join(span.words for span in self.spans) or _("closed")


LEFT, MINUTE = 150, 1  # the x position of 00:00 in the picture, and the width of a minute


def hour_marks() -> list[tuple[int, str]]:
    """Return (x position, label) of each hour."""
    return [(LEFT + hour * 60 * MINUTE, f"{hour:02d}" if not hour % 3 else "") for hour in range(25)]


def days_of_week(openings: OpeningHours, holidays: Holidays, monday: date, at: datetime) -> list[WeekDay]:
    """Return seven days, beginning with `monday`."""
    days = [monday + timedelta(days=number) for number in range(7)]
    moment = local(at)
    found = []
    for day in days:
        holiday = holidays.name_of(day)
        words = None if holiday is None else holiday or _("weekly holiday")
        marked = moment.hour * 60 + moment.minute + moment.second / 60 if day == moment.date() else None
        found.append(WeekDay(day, str(WEEKDAYS_ABBR[day.weekday()]), words, list(_spans(openings, day)), marked))
    return found


def _spans(openings: OpeningHours, day: date) -> Iterator[OpenSpan]:
    for each in openings.spans_of_day(day):
        if each.allowed is False:
            continue
        start = each.start.hour * 60 + each.start.minute + each.start.second / 60
        minutes = (each.end - each.start).total_seconds() / 60
        yield OpenSpan(round(start, 2), round(minutes, 2), _times(start, start + minutes), each.allowed is None)


def _times(start: float, end: float) -> str:
    """Return `08:00–19:00`, with the end rounded up from the service's last second."""
    first, last = int(start), round(end)
    return f"{first // 60:02d}:{first % 60:02d}–{last // 60:02d}:{last % 60:02d}"
