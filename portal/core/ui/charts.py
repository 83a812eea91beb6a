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
class Bars:
    """Bars over time, with the highest value as the scale. Draw with `{% bars chart %}`."""

    title: Text
    unit: Text
    bars: Sequence[Bar]
    top: int
    width: int
    height: int = _HEIGHT

    @property
    def total(self) -> int:
        return sum(bar.value for bar in self.bars)


def by_hour(title: Text, counts: Sequence[int], *, unit: Text = "", every: int = 3) -> Bars:
    """24 counts, one for each hour from 00:00, as bars with a tick each `every` hours."""
    return bars(title, [(f"{hour:02d}:00", count) for hour, count in enumerate(counts)], unit=unit, every=every)


def bars(title: Text, points: Sequence[tuple[str, int]], *, unit: Text = "", every: int = 1) -> Bars:
    """(name, count) pairs as bars with the name under each `every`th. Counts below nought are drawn as nought."""
    top = max([count for _name, count in points] + [1])
    drawn = []
    for place, (name, count) in enumerate(points):
        height = round(max(0, count) / top * _HEIGHT, 2)
        if count > 0:
            height = max(height, 1.5)
        label = name if place % every == 0 else ""
        drawn.append(Bar(place * _STEP + 1, round(_HEIGHT - height, 2), _STEP - 2, height, label, name, count))
    return Bars(title, unit, drawn, top, len(points) * _STEP)


@dataclass(frozen=True, slots=True)
class Pair:
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
class Pairs:
    """Pairs of bars over time, with what each of the two is called. Draw with `{% pairs chart %}`."""

    title: Text
    first: Text
    second: Text
    pairs: Sequence[Pair]
    top: int
    width: int

    @property
    def has_second(self) -> bool:
        return any(pair.second is not None for pair in self.pairs)


def pairs(
    title: Text, names: tuple[Text, Text], points: Sequence[tuple[str, int | None, int | None]], *, every: int = 3
) -> Pairs:
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
        drawn.append(Pair(name, label, x, bar(first, x + 2, _STEP - 6, name), bar(second, x, _STEP - 2, name)))
    return Pairs(title, *names, drawn, top, len(points) * _STEP)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar: `kind` is a class of the style sheet."""

    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Pile:
    """A bar of several pieces, one on the other. `of` is what it tells of."""

    of: Any
    x: float
    width: int
    parts: Sequence[Part]

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Piles:
    """Bars of pieces beside each other, with the highest as the scale, rounded up so that it can be halved."""

    bars: Sequence[Pile]
    top: int
    step: int
    height: int

    @property
    def bar(self) -> int:
        return self.step - 4

    @property
    def width(self) -> int:
        return len(self.bars) * self.step

    @property
    def half_top(self) -> int:
        return self.top // 2

    @property
    def half(self) -> float:
        """Where the line of half the top stands."""
        return self.height / 2


def piles(
    things: Sequence[Any], counts: Callable[[Any], Mapping[str, int]], *, step: int = 22, height: int = 120
) -> Piles:
    """Bars, one for each thing, of the pieces that `counts` tells by kind, from the bottom up; none that is not nought
    is invisible.
    """
    top = max([sum(counts(thing).values()) for thing in things] + [1])
    top += top % 2
    drawn = [
        Pile(thing, place * step + 2, step - 4, list(_pieces(counts(thing), top, height)))
        for place, thing in enumerate(things)
    ]
    return Piles(drawn, top, step, height)


def _pieces(counts: Mapping[str, int], top: int, full: int) -> Iterator[Part]:
    base = float(full)
    for kind, count in counts.items():
        if count:
            height = max(round(count / top * full, 2), 1.5)
            base -= height
            yield Part(kind, round(base, 2), height)


@dataclass(frozen=True, slots=True)
class Meter:
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
    def low(self) -> bool:
        return self.share <= 20

    @property
    def shown(self) -> tuple[str, int, int] | None:
        """All that is shown of it; None where a moment is shown, too."""
        return None if self.low and self.refills_at else (str(self.label), self.left, self.limit)


def meter(source: Any) -> Meter:
    """A Meter from a mapping with its fields, or as it is."""
    return source if isinstance(source, Meter) else Meter(**source)


@dataclass(frozen=True, slots=True)
class Span:
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
class Day:
    """One row of the rights week: its name and when entry is allowed."""

    name: Text
    spans: Sequence[Span]
    holiday: bool = False
