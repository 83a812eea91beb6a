"""A measured figure, what it is compared with, and the table of all figures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the table. `ours` and `beside` are texts for the table; `value` is compared with `reach`.

    `reach` is a comparison and a number: ("<=", 0.33). Without a value, the line says why it was not measured.
    """

    measure: str
    ours: str
    beside: str = ""
    value: float | None = None
    reach: tuple[str, float] | None = None
    command: str = ""
    note: str = ""

    @property
    def met(self) -> str:
        if self.value is None or self.reach is None:
            return ""
        sign, bound = self.reach
        good = {"<=": self.value <= bound, ">=": self.value >= bound, "==": self.value == bound}[sign]
        return "ok" if good else "MISSED"


def table(figures: Sequence[Figure]) -> str:
    heads = ("measure", "ours", "beside", "value", "reach", "", "again with")
    lines = [heads, *(_line(figure) for figure in figures)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    drawn = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    notes = dict.fromkeys(f"{figure.measure}: {figure.note}" for figure in figures if figure.note)
    return "\n".join([drawn[0], "-" * min(len(drawn[0]) + 20, 160), *drawn[1:], "", *notes])


def _line(figure: Figure) -> tuple[str, ...]:
    value = "not measured" if figure.value is None and figure.reach else ""
    if figure.value is not None:
        value = f"{figure.value:.3g}"
    reach = f"{figure.reach[0]} {figure.reach[1]:g}" if figure.reach else ""
    return figure.measure, figure.ours, figure.beside, value, reach, figure.met, figure.command


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: 0.5 for the median."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
