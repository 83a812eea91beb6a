"""The hours of a code: times typed at the desk, and the hours of presets.

All times are service time (+09:00) in whole seconds.
"""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.limits import JST
from portal.base.files.date_parsing import (
    at_clock,
    end_of_clock,
    explain_unread,
    parse_clock,
    parse_typed_moment,
    plain_text,
)
from portal.base.ui.times import duration_words
from portal.domain.visits.models import Preset

# The length of a code without presets.
DEFAULT_DURATION = timedelta(hours=2)
_LONGEST_DURATION = timedelta(days=3660)

_SPAN = re.compile(r"\+?\s*(?:(\d{1,4})\s*(?:h|hours?|時間))?\s*(?:(\d{1,5})\s*(?:m|min|minutes?|分)?)?", re.ASCII)
_TOMORROW = re.compile(r"(?:tomorrow|明日|あした|あす|翌日?)の?\s*(.+)")


class NotATime(ValidationError):
    """The error for a typed text that is no end."""

    def __init__(self, text: str) -> None:
        super().__init__(explain_unread(text, "end"))


class EndsNextDay(ValidationError):
    """The error for a time of day that is not after the start, before the person has seen that it is the next day's."""

    def __init__(self, end: datetime) -> None:
        text = _("This end is on the next day: %(end)s. If that is right, send the form again.")
        super().__init__(text % {"end": f"{end:%Y-%m-%d %H:%M}"})


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
    return end_of_clock(start, timedelta(hours=preset.until.hour, minutes=preset.until.minute))


def parse_end(text: str, start: datetime, *, seen: str | None = None) -> datetime:
    """Return the typed end of a code that begins at `start`.

    Days and times are read as in files. A day alone ends with its last second, and a time of day that is not after the
    start is on the next day. `+90`, `90m`, `2h` or `1h30` counts from the start; `tomorrow 9:00` (`明日9時`) is on the
    next day. Raises NotATime, and EndsNextDay if `seen`, the end that the page has shown, is not this next day's.
    """
    start = start.astimezone(JST).replace(microsecond=0)
    typed = plain_text(text)
    try:
        end = _parse(typed, start)
    except OverflowError:
        end = None
    if end is None:
        raise NotATime(text)
    is_next_day = parse_clock(typed) is not None and end.date() != start.date()
    if is_next_day and seen is not None and seen != format_end(end, start):
        raise EndsNextDay(end)
    return end


def _parse(typed: str, start: datetime) -> datetime | None:
    if named := _TOMORROW.fullmatch(typed):
        clock = parse_clock(named[1])
        return at_clock(start.date() + timedelta(days=1), clock, end=True) if clock is not None else None
    if (clock := parse_clock(typed)) is not None:
        return end_of_clock(start, clock)
    if dated := parse_typed_moment(typed, end=True, today=start.date()):
        return dated
    span = _SPAN.fullmatch(typed.replace("時間半", "時間30分"))
    if span is None or not (span[1] or span[2]) or typed.isdecimal():
        return None
    length = timedelta(hours=int(span[1] or 0), minutes=int(span[2] or 0))
    return _whole_minute(start + length) if timedelta(0) < length <= _LONGEST_DURATION else None


class EndReading(NamedTuple):
    """How a typed end is read: `2026-11-21 06:00`, and the time until then in words."""

    end: str
    length: str


def describe_end(text: str, start: datetime) -> EndReading | None:
    """Return how a typed end of a code that begins at `start` is read; None if it is no end or not after the start."""
    try:
        end = parse_end(text, start)
    except NotATime:
        return None
    minutes = -((start - end) // timedelta(minutes=1))
    return EndReading(format_end(end, start), duration_words(minutes)) if minutes > 0 else None


def _whole_minute(moment: datetime) -> datetime:
    return moment.replace(second=0)


def format_end(end: datetime, start: datetime) -> str:
    """Return `end` as a person would type it: without the date if it is on the day of the start."""
    end, start = end.astimezone(JST), start.astimezone(JST)
    if end.date() != start.date():
        return f"{end:%Y-%m-%d %H:%M}"
    return f"{end:%H:%M}"
