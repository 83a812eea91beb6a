"""A pass drawn as a week: seven days and holidays, each a lane of 24 hours. Positions are percent of a lane."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import time
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from accessapi.permissions import phrase_days, phrase_pass
from accessapi.permissions.passes import DAY_END, HOLIDAY, normal_pass
from accessapi.permissions.phrases import DAYS, format_time, phrase_schedule, read_range, read_weekly

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
        return _(", ").join(bar.text for bar in self.bars)


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
