"""Parse dates and times as people and spreadsheets write them, at the service's offset (+09:00)."""

import re
import unicodedata
from datetime import date, datetime, time, timedelta

from accessapi.limits import JST
from accessapi.moments import to_service_time

_DAY = r"(\d{4})(?:[-/.](\d{1,2})[-/.](\d{1,2})|年\s*(\d{1,2})月\s*(\d{1,2})日)"
_CLOCK = r"(\d{1,2})(?::(\d{2})(?::(\d{2}))?(?:\.0+)?|時(?:(\d{1,2})分?)?)"
_OFFSET = r"\s*(Z|[+-]\d{2}:?\d{2})?"
_MOMENT = re.compile(rf"{_DAY}(?:\([^)]{{1,3}}\))?(?:[ T]*{_CLOCK}{_OFFSET})?\Z", re.ASCII)
_TIME = re.compile(rf"{_CLOCK}\Z", re.ASCII)


def parse_day(text: str) -> date | None:
    """Return the day of `2026-12-01`, `2026/12/1` or `2026年12月1日` without a time; None for anything else."""
    found = parse_typed_moment(text)
    return found.date() if found is not None and not _has_time(text) else None


def parse_typed_moment(text: str, *, end: bool = False) -> datetime | None:
    """Return the moment of a day with or without a time; None for anything else.

    A day alone means 00:00, or as an `end` its last second.
    """
    found = _MOMENT.match(normalize_width(text))
    if found is None:
        return None
    year, month, day, month_ja, day_ja, hour, minute, second, minute_ja, offset = found.groups()
    last = (23, 59, 59) if end else (0, 0, 0)
    clock = last if hour is None else (int(hour), int(minute or minute_ja or 0), int(second or 0))
    try:
        moment = datetime(int(year), int(month or month_ja), int(day or day_ja), *clock, tzinfo=JST)
        return to_service_time(moment - _offset_from_jst(offset))
    except (ValueError, OverflowError):
        return None


def parse_time(text: str) -> time | None:
    """Return the time of `9:00`, `09:00:00`, `9時` or `9時30分`; None for anything else."""
    found = _TIME.match(normalize_width(text))
    if found is None:
        return None
    hour, minute, second, minute_ja = found.groups()
    try:
        return time(int(hour), int(minute or minute_ja or 0), int(second or 0))
    except ValueError:
        return None


def normalize_width(text: str) -> str:
    """Return the text with half-width characters, so that `２０２６／１２／１` is a date."""
    return unicodedata.normalize("NFKC", text).strip()


def _has_time(text: str) -> bool:
    found = _MOMENT.match(normalize_width(text))
    return found is not None and found[6] is not None


def _offset_from_jst(offset: str | None) -> timedelta:
    """Return how far the text's own offset is ahead of +09:00."""
    if offset is None:
        return timedelta()
    if offset == "Z":
        return timedelta(hours=-9)
    sign = -1 if offset[0] == "-" else 1
    digits = offset[1:].replace(":", "")
    return sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) - timedelta(hours=9)
