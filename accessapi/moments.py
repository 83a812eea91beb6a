"""Dates and times from outside: from a browser, a webhook, the service or a file.

All of them must be between `limits.EARLIEST_YEAR` and `limits.LATEST_YEAR`; others are invalid.
"""

from datetime import date, datetime

from accessapi.limits import EARLIEST_YEAR, JST, LATEST_YEAR


def is_in_range(day: date) -> bool:
    """Return whether the year of a date or time is in the allowed range."""
    return EARLIEST_YEAR <= day.year <= LATEST_YEAR


def read_moment(text: object) -> datetime | None:
    """Return the time of a text in ISO 8601, at +09:00, which is also assumed without an offset.

    Return None for anything else.
    """
    try:
        found = datetime.fromisoformat(text.strip()) if isinstance(text, str) else None
    except ValueError:
        return None
    return None if found is None else to_service_time(found)


def to_service_time(moment: datetime) -> datetime | None:
    """Return the time at +09:00, which is also assumed without an offset; None if it is out of range."""
    try:
        service_time = moment.replace(tzinfo=JST) if moment.tzinfo is None else moment.astimezone(JST)
    except OverflowError:
        return None
    return service_time if is_in_range(service_time) else None


def read_day(text: object) -> date | None:
    """Return the date of a text in ISO 8601; None for anything else."""
    try:
        found = date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is not None and is_in_range(found) else None
