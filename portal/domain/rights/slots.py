"""One line of a schedule as people type it, and its schedule item.

Items that the portal understands become days and times that can be changed. All others (unknown modes and fields, odd
times, no days) become slots of the kind "kept", which are shown and sent back unchanged.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any

from django.utils.translation import gettext as _

from accessapi.permissions.passes import DAY_END, EVERY_DAY, Json, weekly
from accessapi.permissions.phrases import DAYS, format_time, read_range, read_weekly

WEEKLY, RANGE, RAW = "weekly", "range", "kept"
_TYPED = re.compile(r"(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


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
    """Return the line of a schedule item. `item_of` turns it back into the same item."""
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
    return slot if _same(item_of(slot), item) else Slot(RAW, raw=item)


def _same(made: Any, item: Any) -> bool:
    if made is None:
        return False
    if made.get("mode") != "weekly":
        return bool(made == item)
    return bool({**item, "week": None} == {**made, "week": None})  # the week is the same set of days


def item_of(slot: Slot) -> Any:
    """Return the schedule item of a line, or None with `problems` filled. Do not call it for a blank line."""
    if slot.kind == RAW:
        return slot.raw
    slot.problems.clear()
    opens, closes = parse_time(slot.start), parse_time(slot.end, closing=True)
    if opens is None or closes is None:
        slot.problems.append(_("Enter times like 08:00 and 19:00. 24:00 is the end of a day."))
    return _weekly(slot, opens, closes) if slot.kind == WEEKLY else _range(slot, opens, closes)


def _weekly(slot: Slot, opens: time | None, closes: time | None) -> Json | None:
    if not slot.days:
        slot.problems.append(_("Choose at least one day."))
    if opens is not None and closes is not None and closes < opens:
        slot.problems.append(_("It ends before it begins. For a night, use two lines: until 24:00, and from 00:00."))
    if slot.problems or opens is None or closes is None:
        return None
    week = (EVERY_DAY,) if len(slot.days) == len(DAYS) else slot.days
    return weekly(f"{opens:%H:%M:%S}", f"{closes:%H:%M:%S}", *week)


def _range(slot: Slot, opens: time | None, closes: time | None) -> Json | None:
    first, last = parse_date(slot.first), parse_date(slot.last or slot.first)
    if first is None or last is None:
        slot.problems.append(_("Enter dates like 2026-12-01."))
    elif opens is not None and closes is not None and (last, closes) < (first, opens):
        slot.problems.append(_("It ends before it begins."))
    if slot.problems or None in (first, last, opens, closes):
        return None
    edges = [(first, opens), (last, closes)]
    start, end = ({"date": day.isoformat(), "time": f"{at:%H:%M:%S}+09:00"} for day, at in edges if day and at)
    return {"mode": "range", "start": start, "end": end}


def parse_time(text: str, *, closing: bool = False) -> time | None:
    """Return the time of 8, 800, 08:00, ８：００ or 08:00:30; with `closing` also 24:00. None for anything else."""
    plain = unicodedata.normalize("NFKC", text).strip().replace(" ", "")
    found = _TYPED.match(plain) if plain.isascii() else None
    if found is None:
        return None
    hour, minute, second = (int(part or 0) for part in found.groups())
    if closing and (hour, minute, second) == (24, 0, 0):
        return DAY_END
    return time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def parse_date(text: str) -> date | None:
    plain = unicodedata.normalize("NFKC", text).strip().replace("/", "-")
    try:
        return date.fromisoformat(plain) if plain.isascii() and _DATE.match(plain) else None
    except ValueError:
        return None


def sorted_days(days: Iterable[str]) -> tuple[str, ...]:
    """Return the valid days of a form in the order of a week."""
    given = set(days)
    return tuple(day for day in DAYS if day in given)
