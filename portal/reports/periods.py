"""Periods and moments of reports in the buildings' time zone."""

from datetime import date, datetime, time, timedelta

from portal.base.ui.times import TOKYO, local

_DAY = timedelta(days=1)


def period_of_days(first: date, last: date) -> tuple[datetime, datetime]:
    """Return these days, both included, as [since, until)."""
    return _midnight(first), _midnight(last + _DAY)


def period_text(since: datetime, until: datetime) -> str:
    """Return the first and the last day as text."""
    first, last = local(since).date(), (local(until) - timedelta(microseconds=1)).date()
    return first.isoformat() if first == last else f"{first.isoformat()} – {last.isoformat()}"


def moment_text(at: datetime | None) -> str:
    """Return a moment as text for reports; empty for None."""
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), TOKYO)
