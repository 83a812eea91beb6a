"""Parse dates and times as people and spreadsheets write them, at the service's offset (+09:00).

Full-width and half-width characters are equal. A text that is no date or time, or an impossible one like 2026/02/30,
gives None; `explain_unread` returns the sentence for it. A clock is the time since midnight, up to 24:00.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Literal, NamedTuple

from django.utils.translation import gettext as _

from accessapi.limits import JST
from accessapi.moments import to_service_time

Order = Literal["ymd", "mdy", "dmy"]
Wanted = Literal["day", "clock", "moment", "end"]
_ORDERS: tuple[Order, ...] = ("ymd", "mdy", "dmy")
_DAY = timedelta(days=1)
_LAST_SECOND = time(23, 59, 59)

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−ー", "-"))

# The first and the last day of each era. The last one is taken to be no longer than the longest one, of 64 years.
_ERAS: dict[str, tuple[date, date]] = {
    "明治": (date(1868, 10, 23), date(1912, 7, 29)),
    "大正": (date(1912, 7, 30), date(1926, 12, 24)),
    "昭和": (date(1926, 12, 25), date(1989, 1, 7)),
    "平成": (date(1989, 1, 8), date(2019, 4, 30)),
    "令和": (date(2019, 5, 1), date(2082, 12, 31)),
}
_ERA_LETTERS = dict(zip("mtshr", _ERAS, strict=True))
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# 1990-01-01 and 2099-12-31 as Excel counts days.
_SERIALS = range(32874, 73051)
_SERIAL_ZERO = date(1899, 12, 30)

_WEEKDAY_NAME = r"(?:mon|tue|tues|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?\b\.?"
_WEEKDAY_JA = r"[月火水木金土日](?:曜日?)?"
_WEEKDAY_BEFORE = re.compile(rf"(?:{_WEEKDAY_NAME},?\s+|{_WEEKDAY_JA}\s+)", re.ASCII)
_WEEKDAY_AFTER = re.compile(
    rf"\s*(?:\(\s*(?:{_WEEKDAY_JA}|{_WEEKDAY_NAME})?\s*(?:・?[祝休])?\s*\)|{_WEEKDAY_JA}|{_WEEKDAY_NAME})", re.ASCII
)
# A negative offset needs the form of ISO 8601: “9:00-12:00” is a period.
_ZONE = r"(?:0\d|1[0-4]):?[0-5]\d"
_OFFSET = re.compile(
    rf"(?<=[\dm.])\s*(z|utc|gmt|jst|\+{_ZONE}|(?:(?<=:\d\d:\d\d)|(?<=\.\d{{3}})|(?<=t\d\d:\d\d))-{_ZONE})\Z", re.ASCII
)
_BEFORE_CLOCK = re.compile(r"\s*[t,]\s*|\s+at\s+|\s+|(?<=[日)])", re.ASCII)

_HALF = r"(午前|午後|[ap]\.?\s?m\.?)"
_HALF_BEFORE = re.compile(rf"{_HALF}\s*(.+)\Z", re.ASCII)
_HALF_AFTER = re.compile(rf"(.+?)\s*{_HALF}\Z", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2})(?:\s*:\s*(\d{2})(?:\s*:\s*(\d{2})(?:\.\d{1,6})?)?|(\d{2}))?\Z", re.ASCII)
_CLOCK_JA = re.compile(r"(\d{1,2})\s*時(?:\s*(\d{1,2})\s*分?(?:\s*(\d{1,2})\s*秒)?)?()\Z", re.ASCII)
_FRACTION = re.compile(r"0?\.\d*[1-9]\Z", re.ASCII)


class _Parsed(NamedTuple):
    """A day, and the clock and time zone after it, if any."""

    day: date
    clock: timedelta | None
    zone: timezone | None


def parse_day(text: str, *, order: Order | None = None, today: date | None = None) -> date | None:
    """Return the day of a text; None for anything else, also for a day with a time other than 00:00.

    `order` is the order of numbers in texts that do not begin with the year; without it, 3/4/2027 gives None.
    A day without a year (11/30, 11月30日) is the next such day from `today`; without `today`, it gives None.
    """
    found = _parse(plain_text(text), order, today)
    return found.day if found is not None and not found.clock and found.zone is None else None


def parse_typed_moment(
    text: str, *, end: bool = False, order: Order | None = None, today: date | None = None
) -> datetime | None:
    """Return the moment of a day with or without a time; None for anything else. See parse_day for the arguments.

    A day alone means 00:00, or as an `end` its last second.
    """
    found = _parse(plain_text(text), order, today)
    if found is None:
        return None
    clock = found.clock if found.clock is not None else _DAY if end else timedelta()
    moment = at_clock(found.day, clock, end=end)
    if moment is not None and found.zone is not None:
        moment = moment.replace(tzinfo=found.zone)
    return to_service_time(moment) if moment is not None else None


def parse_clock(text: str) -> timedelta | None:
    """Return the time of `9:00`, `0900`, `9時半`, `9 pm` or `午後9時` from 0 to 24 hours; None for anything else.

    A fraction below 1 is a time as Excel stores it. 午前12時 and 午後12時 are noon to some and midnight to others.
    """
    return _clock(plain_text(text))


def _clock(plain: str) -> timedelta | None:
    if plain == "正午":
        return timedelta(hours=12)
    if _FRACTION.match(plain):
        minutes = float(plain) * 1440
        return timedelta(minutes=round(minutes)) if abs(minutes - round(minutes)) < 1 / 60 else None
    half, found = "", _CLOCK.match(plain)
    if found is None:
        if halved := _HALF_BEFORE.match(plain):
            half, plain = halved.groups()
        elif halved := _HALF_AFTER.match(plain):
            plain, half = halved.groups()
        plain = plain.replace("時半", "時30分")
        found = _CLOCK.match(plain) or _CLOCK_JA.match(plain)
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2] or found[4] or 0), int(found[3] or 0)
    if half and (hour > 12 or (hour == 12 and "時" in plain)):
        return None
    if half:
        hour = hour % 12 + 12 * (half[0] in "p午" and half != "午前")
    clock = timedelta(hours=hour, minutes=minute, seconds=second)
    return clock if minute < 60 and second < 60 and clock <= _DAY else None


def at_clock(day: date, clock: timedelta, *, end: bool = False) -> datetime | None:
    """Return the moment of a clock on a day; as an `end`, 24:00 is the day's last second. None after the last year."""
    if end and clock == _DAY:
        return datetime.combine(day, _LAST_SECOND, JST)
    try:
        return datetime.combine(day, time(), JST) + clock
    except OverflowError:
        return None


def end_of_clock(start: datetime, clock: timedelta) -> datetime:
    """Return when a period from `start` until a clock ends: on the next day if the clock is not after the start."""
    day = start.astimezone(JST).date()
    end = at_clock(day, clock, end=True)
    if end is None or end <= start:
        end = at_clock(day + _DAY, clock, end=True)
    if end is None:
        raise OverflowError(clock)
    return end


def is_order_dependent(text: str) -> bool:
    """Return whether another order of day, month and year makes another day of a text, as in 3/4/2027 or 3/4."""
    return len(set(_days_by_order(text).values())) > 1


def guess_date_order(texts: Iterable[str]) -> Order | None:
    """Return the only order in which all texts are days.

    None if several orders are possible, if the texts contradict each other, or if no text depends on the order.
    Texts that are no days in any order are ignored.
    """
    readings = [found for text in set(texts) if (found := _days_by_order(text))]
    orders = [order for order in _ORDERS if all(order in found for found in readings)]
    if len(orders) in (0, len(_ORDERS)):
        return None
    is_same = all(len({found[order] for order in orders}) == 1 for found in readings)
    return orders[0] if is_same else None


def explain_unread(text: str, wanted: Wanted) -> str:
    """Return the sentence that refuses a text, with forms that can be read instead."""
    value = text.strip() if len(text.strip()) <= 40 else f"{text.strip()[:39]}…"
    if wanted != "clock" and is_order_dependent(text):
        return _("“%(value)s” can mean two dates. Write the year first, like 2026/11/30.") % {"value": value}
    sentences = {
        "day": _("“%(value)s” is not a date. Enter a date like 2026/11/30, 30 Nov 2026 or R8.11.30."),
        "clock": _("“%(value)s” is not a time. Enter a time like 18:00, 1800 or 6:00 PM."),
        "moment": _("“%(value)s” is not a date and time. Enter them like 2026/11/30 18:00 or R8.11.30 18:00."),
        "end": _("“%(value)s” is not an end time. Enter a time like 18:00, minutes like +90, or a date like 11/30."),
    }
    return sentences[wanted] % {"value": value}


def plain_text(text: str) -> str:
    """Return the text in half-width, lower-case characters with plain dashes, without invisible characters."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_DASHES)
    return text.strip().lower()


def _days_by_order(text: str) -> dict[Order, date]:
    plain = plain_text(text)
    found = {order: _parse(plain, order, date(2024, 1, 1)) for order in _ORDERS}
    return {order: each.day for order, each in found.items() if each is not None}


def _parse(plain: str, order: Order | None, today: date | None) -> _Parsed | None:
    offset = _OFFSET.search(plain)
    head = plain[: offset.start()] if offset else plain
    if before := _WEEKDAY_BEFORE.match(head):
        head = head[before.end() :]
    matches = ((form.match(head), read) for form, read in _FORMS)
    found, read = next(((found, read) for found, read in matches if found is not None), (None, None))
    if found is None or read is None:
        return None
    rest = head[found.end() :]
    if after := _WEEKDAY_AFTER.match(rest):
        rest = rest[after.end() :]
    day = read(found, order, today)
    clock = _clock_after(head, len(head) - len(rest)) if rest else None
    if found.re is _SERIAL and found[2]:
        clock = timedelta(seconds=round(float(found[2]) * 86400)) or None
    if day is None or (rest and clock is None) or (offset and clock is None):
        return None
    return _Parsed(day, clock, _zone(offset[1]) if offset else None)


def _clock_after(text: str, position: int) -> timedelta | None:
    between = _BEFORE_CLOCK.match(text, position)
    return _clock(text[between.end() :]) if between is not None else None


def _zone(text: str) -> timezone:
    if text.isalpha():
        return JST if text == "jst" else UTC
    digits = text[1:].replace(":", "")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-ahead if text[0] == "-" else ahead)


def _numbers_day(found: re.Match[str], order: Order | None, today: date | None) -> date | None:
    """Return the day of two or three numbers between separators."""
    first, separator, second, third = found.groups()
    if third is None:
        if separator == ".":
            return None
        month, day = (second, first) if order == "dmy" else (first, second)
        return _day_of(None, month, day, today)
    if len(first) == 4:
        return _day_of(first, second, third, today)
    days: dict[Order, date | None] = {
        "mdy": _day_of(third, first, second, today),
        "dmy": _day_of(third, second, first, today),
        "ymd": _day_of(first, second, third, today) if len(third) == 2 else None,
    }
    if order is not None and (order != "ymd" or days["ymd"] is not None):
        return days[order]
    possible = {day for day in days.values() if day is not None}
    return possible.pop() if len(possible) == 1 else None


def _day_of(year: str | None, month: str, day: str, today: date | None) -> date | None:
    """Return a day; None if it does not exist. Two digits are a year of this century; None is the next such day."""
    try:
        if year is not None:
            return date(int(year) + 2000 * (len(year) == 2), int(month), int(day)) if len(year) in (2, 4) else None
    except ValueError:
        return None
    for number in range(today.year, today.year + 9) if today is not None else ():
        try:
            found = date(number, int(month), int(day))
        except ValueError:  # or 29 February of another year
            continue
        if today is not None and found >= today:
            return found
    return None


def _written_day(found: re.Match[str], _order: Order | None, today: date | None) -> date | None:
    """Return the day of a text in which the order is clear: of an era, with the name of a month, or of eight digits."""
    parts = found.groupdict()
    month, year = parts["month"], parts.get("year") or parts.get("short_year")
    if not month.isdigit():
        name = "september" if month == "sept" else month
        month = str(next((number for number, each in enumerate(_MONTHS, 1) if each.startswith(name)), 0))
    if not parts.get("era"):
        return _day_of(year, month, parts["day"], today)
    letter, era_year = parts["era"][0], parts["era_year"]
    first, last = _ERAS[_ERA_LETTERS.get(letter) or next(name for name in _ERAS if name.startswith(letter))]
    number = 1 if era_year == "元" else int(era_year)
    day = _day_of(str(first.year + number - 1), month, parts["day"], today)
    return day if number and day and first <= day <= last else None


def _serial_day(found: re.Match[str], _order: Order | None, _today: date | None) -> date | None:
    number = int(found[1])
    return _SERIAL_ZERO + timedelta(days=number) if number in _SERIALS else None


_ERA = r"(?P<era>明治|大正|昭和|平成|令和|[明大昭平令](?=[\d元])|[mtshr](?=\s*[\d元]))\s*(?P<era_year>\d{1,2}|元)"
_NO_DIGIT = r"(?![\d:])"
_MONTH, _DAY_NUMBER = r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_MONTH_NAME, _ORDINAL = r"(?P<month>[a-z]{3,9})\.?", rf"{_DAY_NUMBER}(?:st|nd|rd|th)?"
_YEAR = rf"(?:(?:\s*[-/.,]?\s*(?P<year>(?:19|20)\d\d)|[-/](?P<short_year>\d\d)){_NO_DIGIT})?"
_SERIAL = re.compile(r"(\d{5})(\.\d+)?\Z", re.ASCII)


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Order | None, date | None], date | None]], ...] = (
    (_form(rf"(\d{{1,4}})\s*([-/.])\s*(\d{{1,2}})(?:\s*\2\s*(\d{{1,4}})\.?)?{_NO_DIGIT}"), _numbers_day),
    (_form(rf"(?:(?:{_ERA}|(?P<year>\d{{4}}))\s*年\s*)?{_MONTH}\s*月\s*{_DAY_NUMBER}\s*日"), _written_day),
    (_form(rf"{_ERA}\s*[-/.]\s*{_MONTH}\s*[-/.]\s*{_DAY_NUMBER}{_NO_DIGIT}"), _written_day),
    (_form(r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?!\d)"), _written_day),
    (_SERIAL, _serial_day),
    (_form(rf"{_ORDINAL}[-\s./]*(?:of\s+)?{_MONTH_NAME}{_YEAR}{_NO_DIGIT}"), _written_day),
    (_form(rf"{_MONTH_NAME}\s+{_ORDINAL}{_YEAR}{_NO_DIGIT}"), _written_day),
)
