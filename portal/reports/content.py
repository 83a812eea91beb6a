"""What a report says: its headline figures, its tables, and how complete it is. A page, a PDF and a workbook are three
writings of it.

The head (`ReportHead`) is small and kept with the report; the lines of its tables are many, and are yielded, so that no
worker holds them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

CellValue = str | int
#: The number of a table, and its cells.
TableLine = tuple[int, Sequence[CellValue]]


@dataclass(frozen=True)
class ReportFigure:
    """A number of the headline, with the doubt there is about it. `beside`: what it is compared with."""

    label: str
    value: str
    beside: str = ""


@dataclass(frozen=True)
class ReportTable:
    """A table: its title, the headings of its columns, and what has to be said of all its lines.

    `drawn` is the column whose numbers are drawn as bars, by the first; 0 for none.
    """

    title: str
    columns: Sequence[str]
    note: str = ""
    drawn: int = 0


@dataclass(frozen=True)
class ReportHead:
    """`complete` are sentences about how complete the data is: they stand on every page. `is_partial`: something that
    the report is about was not known when it was made, as lists of reports say too.
    """

    title: str
    about: str
    period: str
    figures: Sequence[ReportFigure] = ()
    sheets: Sequence[ReportTable] = ()
    complete: Sequence[str] = ()
    is_partial: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return what is kept."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "ReportHead":
        """Return what was kept."""
        figures = [ReportFigure(**each) for each in kept["figures"]]
        sheets = [ReportTable(**each) for each in kept["sheets"]]
        return cls(**{**kept, "figures": figures, "sheets": sheets})


@dataclass
class ReportContent:
    """What a kind of report makes: `lines` are read once, `head` after them, so that it may count what they were.

    `named_since`: see `Report.named_since`; it too is final when the lines have been read.
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
    """Return the number in a cell, also one that is said with its doubt ("at least 61"); None where there is none."""
    digits = "".join(each for each in str(cell) if each.isdecimal())
    return int(digits) if digits else None


def lines_of_table(number: int, rows: Iterable[Sequence[CellValue]]) -> Iterator[TableLine]:
    """Yield rows as lines of the sheet with this number."""
    for cells in rows:
        yield number, cells
