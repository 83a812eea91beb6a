"""The month drawn: a bar for each day, stacked. No script, no colour without a word; the table stands beneath."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.today.months import DayCount, Figures

HEIGHT, STEP = 120, 22
_PARTS = ("came", "not_come", "cut", "open")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar: `kind` is a class of the style sheet."""

    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class DayBar:
    count: DayCount
    x: float
    parts: Sequence[Part]

    @property
    def middle(self) -> float:
        return self.x + (STEP - 4) / 2


@dataclass(frozen=True, slots=True)
class MonthChart:
    bars: Sequence[DayBar]
    top: int
    bar: int = STEP - 4
    height: int = HEIGHT

    @property
    def width(self) -> int:
        return len(self.bars) * STEP

    @property
    def half_top(self) -> int:
        return self.top // 2

    @property
    def half(self) -> float:
        """Where the line of half the top stands."""
        return HEIGHT / 2


def month(found: Figures) -> MonthChart:
    """Bars as high as the busiest day allows; a day with visits is never invisible."""
    top = max([day.total for day in found.days] + [1])
    top += top % 2
    return MonthChart([_bar(place, day, top) for place, day in enumerate(found.days)], top)


def _bar(place: int, day: DayCount, top: int) -> DayBar:
    base, parts = float(HEIGHT), []
    for kind in _PARTS:
        count = getattr(day, kind)
        if count:
            height = max(round(count / top * HEIGHT, 2), 1.5)
            base -= height
            parts.append(Part(kind, round(base, 2), height))
    return DayBar(day, place * STEP + 2, parts)
