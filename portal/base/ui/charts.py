"""Small charts drawn by the server as SVG, without scripts. Colours have labels, and a table has the figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise

from portal.base.ui.value_words import join_values

Text = str | Promise
_HEIGHT = 64
_STEP = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its position, size and tooltip. `label` is empty between the ticks."""

    x: float
    y: float
    width: float
    height: float
    label: str
    name: str
    value: int


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars over time, scaled to the highest value. Draw it with `{% bars chart %}`."""

    title: Text
    unit: Text
    bars: Sequence[Bar]
    top: int
    width: int
    height: int = _HEIGHT

    @property
    def total(self) -> int:
        return sum(bar.value for bar in self.bars)


def hourly_bar_chart(title: Text, counts: Sequence[int], *, unit: Text = "") -> BarChart:
    """Return 24 counts, one for each hour from 00:00, as bars with a tick every three hours."""
    return bar_chart(title, [(f"{hour:02d}:00", count) for hour, count in enumerate(counts)], unit=unit, every=3)


def bar_chart(title: Text, points: Sequence[tuple[str, int]], *, unit: Text = "", every: int = 1) -> BarChart:
    """Return (name, count) pairs as bars with a name under each `every`th. Negative counts are drawn as zero."""
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
    """Two bars for one time, the second wider and behind the first; None if a count is not known."""

    name: str
    label: str
    x: float
    first: Bar | None
    second: Bar | None

    @property
    def bars(self) -> list[tuple[str, Bar]]:
        """Return the bars to draw with their CSS classes, the one behind first."""
        both = (("chart-usual", self.second), ("chart-bar", self.first))
        return [(name, bar) for name, bar in both if bar is not None and bar.value]


@dataclass(frozen=True, slots=True)
class PairChart:
    """Pairs of bars over time, with a name for each of the two. Draw it with `{% pairs chart %}`."""

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
    title: Text, names: tuple[Text, Text], points: Sequence[tuple[str, int | None, int | None]]
) -> PairChart:
    """Return (name, count, other count) as pairs of bars with a name under each third."""
    top = max([count for _name, *both in points for count in both if count is not None] + [1])

    def bar(count: int | None, x: float, width: float, name: str) -> Bar | None:
        if count is None:
            return None
        height = max(round(count / top * _HEIGHT, 2), 1.5) if count else 0
        return Bar(x, round(_HEIGHT - height, 2), width, height, "", name, count)

    drawn = []
    for place, (name, first, second) in enumerate(points):
        x = place * _STEP + 1
        label = name if place % 3 == 0 else ""
        drawn.append(BarPair(name, label, x, bar(first, x + 2, _STEP - 6, name), bar(second, x, _STEP - 2, name)))
    return PairChart(title, *names, drawn, top, len(points) * _STEP)


@dataclass(frozen=True, slots=True)
class StackPart:
    """A part of a bar: `kind` is a class of the style sheet."""

    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class StackedBar:
    """A bar of several parts on top of each other, about `subject`."""

    subject: Any
    x: float
    width: int
    parts: Sequence[StackPart]

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class StackedChart:
    """Stacked bars beside each other. The scale is the highest one, rounded up to an even number."""

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
        """Return the position of the line at half the top."""
        return self.height / 2


def stacked_chart(
    subjects: Sequence[Any], counts: Callable[[Any], Mapping[str, int]], *, step: int = 22, height: int = 120
) -> StackedChart:
    """Return a bar for each subject, with the parts that `counts` returns by kind, from the bottom up.

    Every part above zero is high enough to be visible.
    """
    top = max([sum(counts(subject).values()) for subject in subjects] + [1])
    top += top % 2
    drawn = [
        StackedBar(subject, place * step + 2, step - 4, list(_stack_parts(counts(subject), top, height)))
        for place, subject in enumerate(subjects)
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
    """How much of a limit is left: a thin bar with words. It is low at a fifth or less."""

    label: Text
    left: int
    limit: int
    refills_at: datetime | None = None

    @property
    def share(self) -> int:
        """Return the percentage left, 0 to 100."""
        return max(0, min(100, round(100 * self.left / self.limit))) if self.limit > 0 else 0

    @property
    def is_low(self) -> bool:
        return self.share <= 20

    @property
    def cache_key(self) -> tuple[str, int, int] | None:
        """Return everything that it shows; None if it shows a time, too."""
        return None if self.is_low and self.refills_at else (str(self.label), self.left, self.limit)


def build_meter(source: Any) -> UsageMeter:
    """Return a meter, built from a mapping with its fields if needed."""
    return source if isinstance(source, UsageMeter) else UsageMeter(**source)


@dataclass(frozen=True, slots=True)
class DaySpan:
    """A time span of one day in minutes from 00:00, up to 1440."""

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
    """One row of the rights week: its name and the hours with access."""

    name: Text
    spans: Sequence[DaySpan]
    is_holiday: bool = False

    @property
    def words(self) -> str:
        """Return the hours with access as a list."""
        return join_values(span.words for span in self.spans)
