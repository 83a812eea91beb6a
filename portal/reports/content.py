"""The content of a report: headline figures, tables and completeness. It is written as a page, a PDF and a workbook.

The head (`ReportHead`) is small and saved with the report. Tables can be long, so their lines are yielded and never
kept in memory together.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

CellValue = str | int
# (table index, cells)
TableLine = tuple[int, Sequence[CellValue]]


@dataclass(frozen=True)
class ReportFigure:
    """A headline figure, with its uncertainty as text. `beside`: the value to compare with."""

    label: str
    value: str
    beside: str = ""


@dataclass(frozen=True)
class ReportTable:
    """A table: its title, column headings, and a note about all lines.

    `drawn` is the column that is drawn as bars, labelled by the first column; 0 for none.
    """

    title: str
    columns: Sequence[str]
    note: str = ""
    drawn: int = 0


@dataclass(frozen=True)
class ReportHead:
    """The head of a report. `complete`: sentences about how complete the data is, shown on every page.

    `is_partial`: some data was missing when the report was created; lists of reports show this, too.
    """

    title: str
    about: str
    period: str
    figures: Sequence[ReportFigure] = ()
    sheets: Sequence[ReportTable] = ()
    complete: Sequence[str] = ()
    is_partial: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the values to save."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "ReportHead":
        """Return the head from its saved values."""
        figures = [ReportFigure(**each) for each in kept["figures"]]
        sheets = [ReportTable(**each) for each in kept["sheets"]]
        return cls(**{**kept, "figures": figures, "sheets": sheets})


@dataclass
class ReportContent:
    """The content that a kind of report creates. Read `lines` once, and `head` after that: figures may count the lines.

    `named_since`: see `Report.named_since`. It is also final only when all lines have been read.
    """

    title: str
    about: str
    period: str
    sheets: Sequence[ReportTable]
    lines: Iterable[TableLine]
    figures: list[ReportFigure] = field(default_factory=list)
    complete: Sequence[str] = ()
    named_since: datetime | None = None
    is_partial: bool = False

    @property
    def head(self) -> ReportHead:
        told = (tuple(self.figures), tuple(self.sheets), tuple(self.complete), self.is_partial)
        return ReportHead(self.title, self.about, self.period, *told)


def number_in(cell: CellValue) -> int | None:
    """Return the number in a cell, also from a text such as "at least 61"; None if there is none."""
    digits = "".join(each for each in str(cell) if each.isdecimal())
    return int(digits) if digits else None


def lines_of_table(number: int, rows: Iterable[Sequence[CellValue]]) -> Iterator[TableLine]:
    """Yield rows as lines of the table with this index."""
    for cells in rows:
        yield number, cells
