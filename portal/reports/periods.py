"""Compute the periods of reports in the buildings' time zone: chosen days, the last week, or the last month."""

from datetime import date, datetime, time, timedelta

from portal.base.ui.times import TOKYO, local
from portal.reports.models import Every

_DAY = timedelta(days=1)


def period_of_days(first: date, last: date) -> tuple[datetime, datetime]:
    """Return these days, both included, as [since, until)."""
    return _midnight(first), _midnight(last + _DAY)


def last_period(every: Every, at: datetime) -> tuple[datetime, datetime]:
    """Return the last week (from Monday) or month that ended by this moment, as [since, until)."""
    end = start_of(every, local(at).date())
    return _midnight(start_of(every, end - _DAY)), _midnight(end)


def start_of(every: Every, day: date) -> date:
    """Return the first day of a day's week or month."""
    return day.replace(day=1) if every == Every.MONTH else day - _DAY * day.weekday()


def next_run(every: Every, hour: int, after: datetime) -> datetime:
    """Return the first moment after `after` at which a period has ended and its report is due."""
    begin = start_of(every, local(after).date())
    while (run := datetime.combine(begin, time(hour), TOKYO)) <= after:
        begin = start_of(every, begin + _DAY * (31 if every == Every.MONTH else 7))
    return run


def count_between(every: Every, since: datetime, until: datetime) -> int:
    """Return the number of periods between two period starts."""
    count, begin, end = 0, local(since).date(), local(until).date()
    while begin < end:
        begin = start_of(every, begin + _DAY * (31 if every == Every.MONTH else 7))
        count += 1
    return count


def period_text(since: datetime, until: datetime) -> str:
    """Return the first and the last day as text."""
    first, last = local(since).date(), (local(until) - timedelta(microseconds=1)).date()
    return first.isoformat() if first == last else f"{first.isoformat()} – {last.isoformat()}"


def moment_text(at: datetime | None) -> str:
    """Return a moment as text for reports; empty for None."""
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), TOKYO)
