"""Small pictures drawn by the server as SVG: no script, no colour without a word, the figures in a table behind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise

Text = str | Promise
_HEIGHT = 64
_STEP = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: where it stands, how high, and what it says when pointed at. `label` is empty between the ticks."""

    x: float
    y: float
    width: float
    height: float
    label: str
    name: str
    value: int


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars over time, with the highest value as the scale. Draw with `{% bar_chart chart %}`."""

    title: Text
    unit: Text
    bars: Sequence[Bar]
    top: int
    width: int
    height: int = _HEIGHT

    @property
    def total(self) -> int:
        return sum(bar.value for bar in self.bars)


def hourly_bar_chart(title: Text, counts: Sequence[int], *, unit: Text = "", every: int = 3) -> BarChart:
    """24 counts, one for each hour from 00:00, as bars with a tick each `every` hours."""
    return bar_chart(title, [(f"{hour:02d}:00", count) for hour, count in enumerate(counts)], unit=unit, every=every)


def bar_chart(title: Text, points: Sequence[tuple[str, int]], *, unit: Text = "", every: int = 1) -> BarChart:
    """(name, count) pairs as bars with the name under each `every`th. Counts below nought are drawn as nought."""
    top = max([count for _name, count in points] + [1])
    drawn = []
    for place, (name, count) in enumerate(points):
        height = round(max(0, count) / top * _HEIGHT, 2)
        if count > 0:
            height = max(height, 1.5)
        label = name if place % every == 0 else ""
        drawn.append(Bar(place * _STEP + 1, round(_HEIGHT - height, 2), _STEP - 2, height, label, name, count))
    return BarChart(title, unit, drawn, top, len(points) * _STEP)


@dataclass(frozen=True, slots=True)
class BarPair:
    """Two bars of one time, the second wider and behind the first; None for what is not known, or not yet."""

    name: str
    label: str
    x: float
    first: Bar | None
    second: Bar | None

    @property
    def bars(self) -> list[tuple[str, Bar]]:
        """What there is to draw, each with its class, the one behind first."""
        both = (("chart-usual", self.second), ("chart-bar", self.first))
        return [(name, bar) for name, bar in both if bar is not None and bar.value]


@dataclass(frozen=True, slots=True)
class PairChart:
    """Pairs of bars over time, with what each of the two is called. Draw with `{% pair_chart chart %}`."""

    title: Text
    first: Text
    second: Text
    pairs: Sequence[BarPair]
    top: int
    width: int

    @property
    def has_second(self) -> bool:
        return any(pair.second is not None for pair in self.pairs)


def pair_chart(
    title: Text, names: tuple[Text, Text], points: Sequence[tuple[str, int | None, int | None]], *, every: int = 3
) -> PairChart:
    """(name, count, other count) as pairs of bars with the name under each `every`th."""
    top = max([count for _name, *both in points for count in both if count is not None] + [1])

    def bar(count: int | None, x: float, width: float, name: str) -> Bar | None:
        if count is None:
            return None
        height = max(round(count / top * _HEIGHT, 2), 1.5) if count else 0
        return Bar(x, round(_HEIGHT - height, 2), width, height, "", name, count)

    drawn = []
    for place, (name, first, second) in enumerate(points):
        x = place * _STEP + 1
        label = name if place % every == 0 else ""
        drawn.append(BarPair(name, label, x, bar(first, x + 2, _STEP - 6, name), bar(second, x, _STEP - 2, name)))
    return PairChart(title, *names, drawn, top, len(points) * _STEP)


@dataclass(frozen=True, slots=True)
class StackPart:
    """A piece of a bar: `kind` is a class of the style sheet."""

    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class StackedBar:
    """A bar of several pieces, one on the other. `of` is what it tells of."""

    subject: Any
    x: float
    width: int
    parts: Sequence[StackPart]

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class StackedChart:
    """Bars of pieces beside each other, with the highest as the scale, rounded up so that it can be halved."""

    bars: Sequence[StackedBar]
    top: int
    bar_distance: int
    height: int

    @property
    def bar_width(self) -> int:
        return self.bar_distance - 4

    @property
    def width(self) -> int:
        return len(self.bars) * self.bar_distance

    @property
    def half_top(self) -> int:
        return self.top // 2

    @property
    def half_height(self) -> float:
        """Where the line of half the top stands."""
        return self.height / 2


def stacked_chart(
    subjects: Sequence[Any], counts: Callable[[Any], Mapping[str, int]], *, step: int = 22, height: int = 120
) -> StackedChart:
    """Bars, one for each thing, of the pieces that `counts` tells by kind, from the bottom up; none that is not nought
    is invisible.
    """
    top = max([sum(counts(thing).values()) for thing in subjects] + [1])
    top += top % 2
    drawn = [
        StackedBar(thing, place * step + 2, step - 4, list(_stack_parts(counts(thing), top, height)))
        for place, thing in enumerate(subjects)
    ]
    return StackedChart(drawn, top, step, height)


def _stack_parts(counts: Mapping[str, int], top: int, full: int) -> Iterator[StackPart]:
    base = float(full)
    for kind, count in counts.items():
        if count:
            height = max(round(count / top * full, 2), 1.5)
            base -= height
            yield StackPart(kind, round(base, 2), height)


@dataclass(frozen=True, slots=True)
class UsageMeter:
    """How much of a limit is left: a thin bar with words. `low` at a fifth or less."""

    label: Text
    left: int
    limit: int
    refills_at: datetime | None = None

    @property
    def share(self) -> int:
        """Percent left, 0 to 100."""
        return max(0, min(100, round(100 * self.left / self.limit))) if self.limit > 0 else 0

    @property
    def is_low(self) -> bool:
        return self.share <= 20

    @property
    def cache_key(self) -> tuple[str, int, int] | None:
        """All that is shown of it; None where a moment is shown, too."""
        return None if self.is_low and self.refills_at else (str(self.label), self.left, self.limit)


def build_meter(source: Any) -> UsageMeter:
    """A Meter from a mapping with its fields, or as it is."""
    return source if isinstance(source, UsageMeter) else UsageMeter(**source)


@dataclass(frozen=True, slots=True)
class DaySpan:
    """A stretch of one day in minutes from 00:00, up to 1440."""

    start: int
    end: int

    @property
    def width(self) -> int:
        return self.end - self.start

    @property
    def words(self) -> str:
        end = "24:00" if self.end >= 1439 else f"{self.end // 60:02d}:{self.end % 60:02d}"
        return f"{self.start // 60:02d}:{self.start % 60:02d}–{end}"


@dataclass(frozen=True, slots=True)
class RightsDay:
    """One row of the rights week: its name and when entry is allowed."""

    name: Text
    spans: Sequence[DaySpan]
    is_holiday: bool = False
