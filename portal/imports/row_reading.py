"""Read the cells of a file's row: the same for all kinds of data.

Ends and invisible characters are removed, codes, cards and addresses get half-width characters, and texts one form of
Unicode (NFC). What a spreadsheet has destroyed, or what no form accepts, is a problem of its cell.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from accessapi.resources import compose
from portal.base.files import reading
from portal.base.ui import inputs
from portal.domain.people.fields import CellKind, SheetColumn

Problem = tuple[str, str, dict[str, Any]]  # column, problem code, values

# Soft hyphen, zero-width characters, marks of direction and the byte order mark. Some scripts need the two joiners
# (U+200C and U+200D) inside a word, so texts lose these characters at their ends only.
INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_ENDS = INVISIBLE + "".join(chr(code) for code in range(sys.maxunicode) if chr(code).isspace())
_NO_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))
# How spreadsheets shorten a number of more than eleven digits, when they save CSV.
_ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d+", re.IGNORECASE)
# Spreadsheets keep fifteen digits, and write zeros in place of the others.
_ZEROS_AT_END = re.compile(r"\d{6,}00000")


def clean(text: str, kind: CellKind) -> str:
    """Return a cell's text without spaces and invisible characters at its ends, in the usual form of its letters."""
    if text.isascii():
        return text.strip()
    if kind == "email":
        return inputs.fold_address(text.translate(_NO_INVISIBLE))
    if kind in ("code", "card"):
        return unicodedata.normalize("NFKC", text).translate(_NO_INVISIBLE).strip()
    return str(compose(text)).strip(_ENDS)


@dataclass
class SheetRow:
    """A row of a file by column. `texts` has the cleaned cells that are not empty.

    `quoted`: the texts to be quoted beside the problems, by column. `cleaned`: (before, after) of changed cells.
    """

    line: int
    cells: Sequence[str]
    texts: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    quoted: dict[str, str] = field(default_factory=dict)
    cleaned: dict[str, tuple[str, str]] = field(default_factory=dict)

    def refuse(self, column: str, reason: str, **values: Any) -> None:
        """Add a problem of a column, and quote its text beside it."""
        self.problems.append((column, reason, values))
        if column in self.texts:
            self.quoted[column] = self.texts[column][:100]


class RowReader:
    """Reads the rows of one file, and counts what was found in them.

    `places`: the position of each column. `parts`: the columns that are joined with spaces, in order, into `whole`.
    """

    def __init__(
        self, columns: Sequence[SheetColumn], places: Mapping[str, int], parts: Sequence[str] = (), whole: str = ""
    ) -> None:
        self._columns = [(each.name, each.kind, places[each.name]) for each in columns if each.name in places]
        self._names = {place: name for name, _kind, place in self._columns}
        self._parts, self._whole = [each for each in parts if each in places], whole
        self._cards: Counter[int] = Counter()  # numbers of cards by their digits
        self._short_cards: dict[int, list[int]] = {}  # the first lines by digits
        self._cleaned_lines: list[int] = []
        self.counts: Counter[str] = Counter()

    def read(self, line: reading.Line) -> SheetRow:
        """Return the row of a line with the problems of its cells."""
        row = SheetRow(line.number, line.cells)
        width = len(line.cells)
        for name, kind, place in self._columns:
            if place < width and (text := line.cells[place]):
                self._read_cell(row, name, kind, text)
        for place, code in line.notes:
            if (name := self._names.get(place, "")) in row.texts:
                row.notes.append((name, code, {}))
                self.counts[code] += 1
        self.counts["hidden"] += line.is_hidden
        if row.cleaned:
            self.counts["cleaned"] += len(row.cleaned)
            self._cleaned_lines.append(line.number)
        if self._parts:
            self._join_parts(row)
        return row

    def _read_cell(self, row: SheetRow, name: str, kind: CellKind, cell: str) -> None:
        if fault := reading.cell_fault(cell):
            row.problems.append((name, fault, {}))
            return
        text = clean(cell, kind)
        if text:
            row.texts[name] = text
            if text != cell:
                row.cleaned[name] = (cell, text)
            if not text.isprintable():
                _check_characters(row, name, kind, text)
            if kind in ("card", "code"):
                self._check_number(row, name, kind, text)

    def _check_number(self, row: SheetRow, name: str, kind: CellKind, text: str) -> None:
        if "+" in text and _ROUNDED.fullmatch(text):
            row.refuse(name, "digits_lost")
        elif kind == "card" and text.isdecimal():
            self._cards[len(text)] += 1
            self._short_cards.setdefault(len(text), []).append(row.line)
            if _ZEROS_AT_END.fullmatch(text):
                row.notes.append((name, "zeros_at_end", {}))

    def _join_parts(self, row: SheetRow) -> None:
        whole = " ".join(filter(None, (row.texts.pop(name, "") for name in self._parts)))
        if whole:
            row.texts[self._whole] = whole
        row.problems = [
            (self._whole if name in self._parts else name, reason, values) for name, reason, values in row.problems
        ]

    @property
    def findings(self) -> dict[str, Any]:
        """Return what the page says about the whole file: counts, and cards that may lack zeros."""
        found: dict[str, Any] = {name: n for name, n in self.counts.items() if n}
        found["cleaned_lines"] = self._cleaned_lines[:11]
        usual = max(self._cards, key=self._cards.__getitem__, default=0)
        lines = sorted(line for digits in (usual - 1, usual - 2) for line in self._short_cards.get(digits, []))
        if usual >= 8 and lines and len(lines) * 2 < self._cards[usual]:
            found["short_cards"] = {"n": len(lines), "digits": usual, "lines": lines[:11]}
        return found


def _check_characters(row: SheetRow, name: str, kind: CellKind, text: str) -> None:
    check = inputs.validate_multiline if kind == "lines" else inputs.validate_one_line
    try:
        check(text)
    except ValidationError:
        row.problems.append((name, "controls", {}))
