"""When a place is open to a person: the spans of a day, the next opening, and how long one lasts.

A decision changes only at the times that rights and the use period contain, and at midnight (holidays, weekdays). So a
day is cut at those seconds and `decide_place` decides once per span.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

from accessapi.limits import JST
from accessapi.permissions.decision import AreaPlace, Decision, KeyPlace, decide_place
from accessapi.permissions.holidays import NO_HOLIDAYS, Holidays
from accessapi.permissions.passes import read_edge, read_time

_DAY_SECONDS = 86400
#: Days to look ahead: a whole year, so that every yearly holiday occurs once.
HORIZON_DAYS = 400


@dataclass(frozen=True, slots=True)
class DecisionSpan:
    """The answer from `start` up to `end` (not included), at +09:00; None: unknown."""

    start: datetime
    end: datetime
    allowed: bool | None


@dataclass(frozen=True)
class OpeningHours:
    """One person's rights at one place (devices_pass for an area, keys_pass for a key) within the use period."""

    rights: Any
    place: AreaPlace | KeyPlace
    holidays: Holidays = NO_HOLIDAYS
    use_period: tuple[datetime | None, datetime | None] = (None, None)

    def decision_at(self, moment: datetime) -> Decision:
        """Return the decision at a moment. Raises ValueError for one without a time zone."""
        return decide_place(self.rights, self.place, moment, self.holidays, use_period=self.use_period)

    def spans_of_day(self, day: date) -> list[DecisionSpan]:
        """Return the day from 00:00 to 24:00 in spans, each different from its neighbours."""
        midnight = datetime.combine(day, time(), tzinfo=JST)
        edges = sorted({0, *self._daily_edges, *self._dated_edges.get(day, ())})
        found: list[DecisionSpan] = []
        for start, end in zip(edges, [*edges[1:], _DAY_SECONDS], strict=True):
            allowed = self.decision_at(midnight + timedelta(seconds=start)).allowed
            begins = midnight + timedelta(seconds=start)
            if found and found[-1].allowed is allowed:
                begins = found.pop().start
            found.append(DecisionSpan(begins, midnight + timedelta(seconds=end), allowed))
        return found

    def next_opening(self, moment: datetime) -> DecisionSpan | None:
        """Return the first span from `moment` on that gives access, up to the end of its day.

        Return None if there is none in the next year.
        """
        return next((each for each in self._spans_from(moment) if each.allowed is True), None)

    def next_unknown(self, moment: datetime) -> DecisionSpan | None:
        """Return the first span from `moment` on whose answer is unknown."""
        return next((each for each in self._spans_from(moment) if each.allowed is None), None)

    def next_change(self, moment: datetime) -> datetime | None:
        """Return when the answer at `moment` changes; None if it does not change in the next year."""
        now = self.decision_at(moment).allowed
        return next((max(each.start, moment) for each in self._spans_from(moment) if each.allowed is not now), None)

    def _spans_from(self, moment: datetime) -> Iterator[DecisionSpan]:
        """Yield the spans that end after `moment`: day by day for a year, then on the dates in the rights."""
        moment = moment.astimezone(JST).replace(microsecond=0)
        first, last = moment.date(), _add_days(moment.date(), HORIZON_DAYS)
        beyond = sorted(day for day in self._dated_edges if day > last)
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        for day in [*days, *beyond]:
            for each in self.spans_of_day(day) if day < date.max else ():
                if each.end > moment:
                    yield DecisionSpan(max(each.start, moment), each.end, each.allowed)

    @cached_property
    def _daily_edges(self) -> frozenset[int]:
        """Return the seconds of a day at which a weekly item begins, or has just ended."""
        found: set[int] = set()
        for item in _items(self.rights):
            start, end = (_second_of_day(item.get(side)) for side in ("start", "end"))
            found |= {start} if start is not None else set()
            found |= {end + 1} if end is not None else set()
        return frozenset(second for second in found if second < _DAY_SECONDS)

    @cached_property
    def _dated_edges(self) -> dict[date, set[int]]:
        """Return the start and end times of dated items and of the use period, by day."""
        found: dict[date, set[int]] = {}
        starts = [self.use_period[0].astimezone(JST).replace(tzinfo=None)] if self.use_period[0] else []
        ends = [self.use_period[1].astimezone(JST).replace(tzinfo=None)] if self.use_period[1] else []
        for item in _items(self.rights):
            if item.get("mode") == "range":
                starts += [edge] if (edge := read_edge(item.get("start"))) else []
                ends += [edge] if (edge := read_edge(item.get("end"))) else []
        for edge in [*starts, *(_second_later(end) for end in ends)]:
            found.setdefault(edge.date(), set()).add(edge.hour * 3600 + edge.minute * 60 + edge.second)
        return found


def _add_days(day: date, days: int) -> date:
    return day + timedelta(days=min(days, (date.max - day).days))


def _second_later(moment: datetime) -> datetime:
    try:
        return moment.replace(microsecond=0) + timedelta(seconds=1)
    except OverflowError:  # the calendar's last second
        return moment


def _second_of_day(edge: Any) -> int | None:
    at = read_time(edge.get("time")) if isinstance(edge, dict) else None
    return None if at is None else at.hour * 3600 + at.minute * 60 + at.second


def _items(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every schedule item anywhere in rights. Extra times that this place does not need do no harm."""
    if isinstance(value, list):
        for inner in value:
            yield from _items(inner)
    elif isinstance(value, dict):
        if "mode" in value and "start" in value:
            yield value
        for inner in value.values():
            yield from _items(inner) if isinstance(inner, list | dict) else ()
