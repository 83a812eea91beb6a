"""The hours of a code: times typed at the desk, and the hours of presets.

All times are service time (+09:00) in whole seconds.
"""

import re
import unicodedata
from datetime import date, datetime, time, timedelta

from django.utils import timezone

from accessapi.limits import JST
from portal.domain.visits.models import Preset

# The length of a code without presets.
DEFAULT_DURATION = timedelta(hours=2)
_LONGEST_DURATION = timedelta(days=3660)

_CLOCK = re.compile(r"(\d{1,2})(?::?(\d{2}))?")
_SPAN = re.compile(r"\+?\s*(?:(\d{1,4})\s*(?:h|hours?|時間))?\s*(?:(\d{1,5})\s*(?:m|min|minutes?|分)?)?")
_DAY = re.compile(r"(?:(\d{4})[-/])?(\d{1,2})[-/](\d{1,2})(?:\s+|t)(.+)")
_TOMORROW = re.compile(r"(?:tomorrow|明日|あした|あす)\s*(.+)")


class NotATime(ValueError):
    """The error for a typed text that is not a time."""


class TimeIsOver(ValueError):
    """The error for a time of day that has passed; `tomorrow` is the same time on the next day."""

    def __init__(self, tomorrow: datetime) -> None:
        self.tomorrow = tomorrow
        super().__init__("the time is over")


def now() -> datetime:
    """Return this moment in service time, in whole seconds."""
    return timezone.now().astimezone(JST).replace(microsecond=0)


def end_of(preset: Preset | None, start: datetime) -> datetime:
    """Return when a code of this preset that begins at `start` ends.

    A time of day that has passed means the next day.
    """
    start = start.astimezone(JST).replace(microsecond=0)
    if preset is None:
        return _whole_minute(start + DEFAULT_DURATION)
    if preset.until is None:
        return _whole_minute(start + timedelta(minutes=preset.minutes or 0))
    end = datetime.combine(start.date(), preset.until, JST)
    return end if end > start else end + timedelta(days=1)


def parse_end(text: str, start: datetime) -> datetime:
    """Return the typed end of a code that begins at `start`.

    `1830`, `18:30` or `18` is a time of the day on which it starts. `+90`, `90m`, `2h` or `1h30` counts from the start.
    A date before the time (`11-22 9:00`, `2026-11-22 09:00`), or `tomorrow` (`明日`), names another day. Full-width and
    half-width characters are equal. Raises NotATime, and TimeIsOver for a time of day alone that is not after the
    start.
    """
    start = start.astimezone(JST).replace(microsecond=0)
    typed = unicodedata.normalize("NFKC", text).strip().lower().replace("時半", ":30")
    typed = re.sub(r"(\d)時(\d{1,2})分?", r"\1:\2", typed)
    typed = re.sub(r"(\d)時(?!間)", r"\1:00", typed)
    try:
        return _parse(typed, start)
    except OverflowError:
        raise NotATime(text) from None


def _parse(typed: str, start: datetime) -> datetime:
    if named := _TOMORROW.fullmatch(typed):
        return datetime.combine(start.date() + timedelta(days=1), _clock(named[1]), JST)
    if dated := _DAY.fullmatch(typed):
        return datetime.combine(_date(dated, start), _clock(dated[4]), JST)
    if _CLOCK.fullmatch(typed):
        end = datetime.combine(start.date(), _clock(typed), JST)
        if end <= start:
            raise TimeIsOver(end + timedelta(days=1))
        return end
    span = _SPAN.fullmatch(typed)
    if span is None or not (span[1] or span[2]):
        raise NotATime(typed)
    length = timedelta(hours=int(span[1] or 0), minutes=int(span[2] or 0))
    if not timedelta(0) < length <= _LONGEST_DURATION:
        raise NotATime(typed)
    return _whole_minute(start + length)


def _clock(text: str) -> time:
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise NotATime(text)
    hour, minute = int(found[1]), int(found[2] or 0)
    if hour == 24 and minute == 0:
        return time(23, 59, 59)
    if hour > 23 or minute > 59:
        raise NotATime(text)
    return time(hour, minute)


def _date(found: re.Match[str], start: datetime) -> date:
    try:
        named = date(int(found[1] or start.year), int(found[2]), int(found[3]))
        if found[1] is None and named < start.date():  # written in December, meant for January
            named = named.replace(year=named.year + 1)
    except ValueError:
        raise NotATime(found[0]) from None
    return named


def _whole_minute(moment: datetime) -> datetime:
    return moment.replace(second=0)


def format_end(end: datetime, start: datetime) -> str:
    """Return `end` as a person would type it: without the date if it is on the day of the start."""
    end, start = end.astimezone(JST), start.astimezone(JST)
    if end.date() != start.date():
        return f"{end:%Y-%m-%d %H:%M}"
    return f"{end:%H:%M}"
