"""Days and months of the desk: from midnight to midnight on the service's clock (+09:00)."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from accessapi.moments import read_day
from portal.base.ui.times import TOKYO, local, today

# The service knows no later date, and the portal has no older visit.
_FIRST, _LAST = date(2000, 1, 1), date(2999, 12, 31)


@dataclass(frozen=True)
class Day:
    """One day: `start` is part of it, `end` is the next day's midnight."""

    date: date

    @classmethod
    def today(cls) -> "Day":
        return cls(today())

    @classmethod
    def parse(cls, text: str) -> "Day":
        """Return the day of a URL parameter (`2026-11-21`), or today for anything else."""
        named = read_day(text)
        return cls(named) if named is not None and _FIRST <= named <= _LAST else cls.today()

    @property
    def start(self) -> datetime:
        return datetime.combine(self.date, time(), TOKYO)

    @property
    def end(self) -> datetime:
        return self.start + timedelta(days=1)

    @property
    def is_today(self) -> bool:
        return self == Day.today()

    def time_text(self, moment: datetime | None) -> str:
        """Return `09:41` for a moment of this day, else `11-20 09:41`, with the year if it differs."""
        if moment is None:
            return ""
        local_time = local(moment)
        if local_time.date() == self.date:
            return f"{local_time:%H:%M}"
        return f"{local_time:%m-%d %H:%M}" if local_time.year == self.date.year else f"{local_time:%Y-%m-%d %H:%M}"

    def plus_days(self, days: int) -> "Day":
        return Day(min(max(self.date + timedelta(days=days), _FIRST), _LAST))


@dataclass(frozen=True)
class Month:
    """One month: `start` is part of it, `end` is the next month's first midnight."""

    first: date

    @classmethod
    def parse(cls, text: str) -> "Month":
        """Return the month of a URL parameter (`2026-11`), or the current month for anything else."""
        day = Day.parse(f"{text}-01") if len(text) == 7 else Day.today()
        return cls(day.date.replace(day=1))

    @property
    def start(self) -> datetime:
        return Day(self.first).start

    @property
    def end(self) -> datetime:
        return self.next.start if self.next.first > self.first else self.start + timedelta(days=31)

    @property
    def days(self) -> list[Day]:
        number = (self.end - self.start).days
        return [Day(self.first + timedelta(days=place)) for place in range(number)]

    @property
    def name(self) -> str:
        return f"{self.first:%Y-%m}"

    @property
    def next(self) -> "Month":
        return Month(Day(self.first).plus_days(31).date.replace(day=1))

    @property
    def previous(self) -> "Month":
        return Month(Day(self.first).plus_days(-1).date.replace(day=1))

    @property
    def is_current(self) -> bool:
        return self.first == Day.today().date.replace(day=1)
