"""The lines of a schedule as people type them, and a schedule drawn as a week.

Items that the portal understands become days and times that can be changed. All others (unknown modes and fields, odd
times, no days) become slots of the kind "kept", which are shown and sent back unchanged.

A week has seven days and holidays, each a lane of 24 hours. Positions are percent of a lane.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from accessapi.limits import JST
from accessapi.moments import is_in_range
from accessapi.permissions import phrase_days, phrase_pass
from accessapi.permissions.passes import (
    DAY_END,
    EVERY_DAY,
    HOLIDAY,
    WEEKDAYS,
    Json,
    between,
    normal_pass,
    weekly,
)
from accessapi.permissions.phrases import DAYS, format_time, phrase_schedule, read_range, read_weekly
from portal.base.files.date_parsing import at_clock, end_of_clock, explain_unread, parse_clock, parse_day
from portal.base.ui.value_words import join_values

WEEKLY, RANGE, RAW = "weekly", "range", "kept"
_WHOLE_DAY = timedelta(days=1)


@dataclass
class Slot:
    """One line. `days` belong to a weekly line, `first` and `last` (dates) to a dated one.

    `start` and `end` are times as typed. `problems` are messages for the person who typed them.
    """

    kind: str = WEEKLY
    days: tuple[str, ...] = ()
    start: str = ""
    end: str = ""
    first: str = ""
    last: str = ""
    raw: Any = None
    number: int = 0  # in the form
    problems: list[str] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        """Return True if the line is empty."""
        return self.kind != RAW and not any((self.days, self.start, self.end, self.first, self.last))


def slot_of(item: Any) -> Slot:
    """Return the line of a schedule item. `items_of` turns it back into the same item."""
    found = read_weekly(item)
    if found is not None:
        days, (opens, closes) = found
        slot = Slot(
            WEEKLY, tuple(day for day in DAYS if day in days), format_time(opens), format_time(closes, is_closing=True)
        )
    elif (edges := read_range(item)) is not None:
        first, last = edges
        slot = Slot(RANGE, (), format_time(first.time()), format_time(last.time(), is_closing=True),
                    f"{first:%Y-%m-%d}".zfill(10), f"{last:%Y-%m-%d}".zfill(10))  # fmt: skip
    else:
        return Slot(RAW, raw=item)
    return slot if _is_same(items_of(slot), item) else Slot(RAW, raw=item)


def _is_same(items: list[Any], item: Any) -> bool:
    if not items or items[0]["mode"] != "weekly":
        return items == [item]
    return bool({**item, "week": None} == {**items[0], "week": None})  # the week is the same set of days


def items_of(slot: Slot) -> list[Any]:
    """Return the schedule items of a line: two for a night, none with `problems` filled. Do not call it if it is blank.

    The service has no item over midnight: an end before the start is on the next day.
    """
    if slot.kind == RAW:
        return [slot.raw]
    opens, closes = parse_clock(slot.start), parse_clock(slot.end)
    texts = [text for text in (slot.start, slot.end) if text.strip() and parse_clock(text) is None]
    slot.problems[:] = [explain_unread(text, "clock") for text in texts]
    if not texts and (opens is None or closes is None or opens == _WHOLE_DAY):
        slot.problems.append(_("Enter times like 08:00 and 19:00. 24:00 is the end of a day."))
    items = _weekly(slot, opens, closes) if slot.kind == WEEKLY else _range(slot, opens, closes)
    return [] if slot.problems else items


def _weekly(slot: Slot, opens: timedelta | None, closes: timedelta | None) -> list[Json]:
    if not slot.days:
        slot.problems.append(_("Choose at least one day."))
    if opens is None or closes is None:
        return []
    if closes >= opens:
        return [_week_item(opens, closes, slot.days)]
    is_every_day = len(slot.days) == len(DAYS)
    if HOLIDAY in slot.days and not is_every_day:
        slot.problems.append(_("For the night after a holiday, use two lines: until 24:00, and from 00:00."))
    after = [WEEKDAYS[(WEEKDAYS.index(day) + 1) % 7] for day in slot.days if day != HOLIDAY]
    mornings = slot.days if is_every_day else sorted_days(after)
    evening = _week_item(opens, _WHOLE_DAY, slot.days)
    return [evening, _week_item(timedelta(), closes, mornings)] if closes else [evening]


def _week_item(opens: timedelta, closes: timedelta, days: tuple[str, ...]) -> Json:
    first, last = at_clock(date.min, opens), at_clock(date.min, closes, end=True)
    return weekly(f"{first:%H:%M:%S}", f"{last:%H:%M:%S}", *((EVERY_DAY,) if len(days) == len(DAYS) else days))


def _range(slot: Slot, opens: timedelta | None, closes: timedelta | None) -> list[Json]:
    first, last = parse_day(slot.first), parse_day(slot.last)
    texts = [text for text in (slot.first, slot.last) if text.strip() and parse_day(text) is None]
    slot.problems += [explain_unread(text, "day") for text in texts]
    if not texts and (first is None or not is_in_range(first)):
        slot.problems.append(_("Enter dates like 2026-12-01."))
    if slot.problems or first is None or opens is None or closes is None:
        return []
    start = datetime.combine(first, time(), JST) + opens
    end = at_clock(last, closes, end=True) if last is not None else end_of_clock(start, closes)
    if end is None or end < start:
        slot.problems.append(_("It ends before it begins."))
        return []
    return [between(start, end)]


def sorted_days(days: Iterable[str]) -> tuple[str, ...]:
    """Return the valid days of a form in the order of a week."""
    given = set(days)
    return tuple(day for day in DAYS if day in given)


_DAY = 24 * 3600
Seconds = tuple[int, int]


@dataclass(frozen=True)
class Bar:
    """A period of one day: `x` and `width` like "33.333%", and its times in words."""

    x: str
    width: str
    text: str


@dataclass
class Lane:
    """One day. `short_name` is shown on the drawing, `name` where there is room."""

    key: str
    name: str
    short_name: str
    bars: list[Bar] = field(default_factory=list)

    @property
    def is_holiday(self) -> bool:
        return self.key == HOLIDAY

    @property
    def text(self) -> str:
        return join_values(bar.text for bar in self.bars)


@dataclass(frozen=True)
class Week:
    """A drawn pass. `date_ranges` are periods between dates in words, `not_understood` undescribed parts in words."""

    lanes: list[Lane]
    sentence: str
    date_ranges: list[str]
    not_understood: list[str]
    effect: str = ""


def day_names() -> list[tuple[str, str, str]]:
    """Return (key, name, short name) of the seven days and holidays."""
    short = {
        "Monday": pgettext("short day", "Mon"),
        "Tuesday": pgettext("short day", "Tue"),
        "Wednesday": pgettext("short day", "Wed"),
        "Thursday": pgettext("short day", "Thu"),
        "Friday": pgettext("short day", "Fri"),
        "Saturday": pgettext("short day", "Sat"),
        "Sunday": pgettext("short day", "Sun"),
        "Holiday": pgettext("short day", "Hol"),
    }
    names = {day: phrase_days([day], _) for day in DAYS}
    return [(day, names[day][:1].upper() + names[day][1:], short[day]) for day in DAYS]


def week_of(pass_: Any) -> Week:
    """Return the drawing of one pass. Parts that are not understood are listed in `not_understood`."""
    value = normal_pass(pass_)
    effect = value.get("effect") if isinstance(value, dict) else None
    schedule = value.get("schedule") if isinstance(value, dict) and effect == "allow" else None
    items = schedule if isinstance(schedule, list) else []
    spans = _whole_week() if effect == "allow_all" else _spans(items)
    lanes = [Lane(key, name, short, _bars(spans[key])) for key, name, short in day_names()]
    known = effect in ("allow_all", "deny_all") or (effect == "allow" and isinstance(schedule, list))
    dated = [phrase_schedule([item], _) for item in items if read_range(item)]
    strange = [phrase_schedule([item], _) for item in items if not read_range(item) and not read_weekly(item)]
    sentence = phrase_pass(value, _)
    return Week(
        lanes,
        sentence[:1].upper() + sentence[1:],
        dated,
        strange if known else [sentence],
        str(effect or ""),
    )


def union_week(passes: Iterable[Any]) -> Week:
    """Return one week for several passes: the times at which at least one of them applies."""
    items: list[Any] = []
    for value in map(normal_pass, passes):
        effect = value.get("effect") if isinstance(value, dict) else None
        if effect == "allow_all":
            return week_of(value)
        if effect == "allow" and isinstance(value.get("schedule"), list):
            items += value["schedule"]
    return week_of({"effect": "allow", "schedule": items})


def _whole_week() -> dict[str, list[Seconds]]:
    return {day: [(0, _DAY)] for day in DAYS}


def _spans(items: list[Any]) -> dict[str, list[Seconds]]:
    """Return for each day the periods at which any weekly item applies, with adjacent ones joined."""
    found: dict[str, list[Seconds]] = {day: [] for day in DAYS}
    for item in items:
        read = read_weekly(item)
        if read is None or read[1][1] < read[1][0]:
            continue
        days, (opens, closes) = read
        for day in days:
            found[day].append((_seconds(opens), _DAY if closes == DAY_END else _seconds(closes)))
    return {day: _merged(spans) for day, spans in found.items()}


def _merged(spans: list[Seconds]) -> list[Seconds]:
    merged: list[Seconds] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _bars(spans: list[Seconds]) -> list[Bar]:
    return [Bar(_percent(start), _percent(max(end - start, 180)), _words(start, end)) for start, end in spans]


def _words(start: int, end: int) -> str:
    closes = DAY_END if end == _DAY else _time(end)
    return f"{format_time(_time(start))}–{format_time(closes, is_closing=True)}"


def _percent(seconds: int) -> str:
    return f"{seconds / _DAY * 100:.3f}%"


def _seconds(at: time) -> int:
    return at.hour * 3600 + at.minute * 60 + at.second


def _time(seconds: int) -> time:
    return time(seconds // 3600, seconds // 60 % 60, seconds % 60)
