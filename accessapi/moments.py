"""Moments that come from outside: from a browser, a webhook, the service or a file.

One range holds for all of them (`limits.EARLIEST_YEAR` to `limits.LATEST_YEAR`). What is outside is no moment.
"""

from datetime import date, datetime

from accessapi.limits import EARLIEST_YEAR, JST, LATEST_YEAR


def is_in_range(day: date) -> bool:
    """Return whether the year of a day or moment is one that everything can hold and reckon with."""
    return EARLIEST_YEAR <= day.year <= LATEST_YEAR


def read_moment(text: object) -> datetime | None:
    """Return what a text in ISO 8601 means, at +09:00, which is also assumed where the text has no offset.

    None for anything else.
    """
    try:
        found = datetime.fromisoformat(text.strip()) if isinstance(text, str) else None
    except ValueError:
        return None
    return None if found is None else to_service_time(found)


def to_service_time(moment: datetime) -> datetime | None:
    """Return the moment at +09:00, which is also assumed where it has no offset; None when it is not sensible."""
    try:
        there = moment.replace(tzinfo=JST) if moment.tzinfo is None else moment.astimezone(JST)
    except OverflowError:
        return None
    return there if is_in_range(there) else None


def read_day(text: object) -> date | None:
    """Return the day of a text in ISO 8601; None for anything else."""
    try:
        found = date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is not None and is_in_range(found) else None
