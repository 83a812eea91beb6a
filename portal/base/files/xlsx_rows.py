"""Read the rows of a sheet from its XML: each cell as a person sees it, one row at a time."""

import re
from collections import deque
from datetime import datetime
from typing import NamedTuple

from portal.base.files import file_limits, number_formats
from portal.base.files.file_limits import FileFault
from portal.base.files.lines import Line, mark_fault
from portal.base.files.number_formats import CellFormat

TRUE = ("1", "true")
_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f]|007[Ff]|[Ff]{3}[EeFf])_")


class CellStyle(NamedTuple):
    """How a cell shows its number, and what it shows around its text."""

    read: CellFormat
    frame: tuple[str, str] | None


class RowParser:
    """The handlers for expat. One row is collected at a time; complete rows wait in `ready`."""

    def __init__(
        self, strings: list[str], formats: list[CellStyle], epoch: datetime, *, is_uncalculated: bool = False
    ) -> None:
        self.ready: deque[Line] = deque()
        self.is_done = False
        self._strings, self._formats, self._epoch = strings, formats, epoch
        self._is_uncalculated = is_uncalculated
        self._row = self._column = self._blank = 0
        self._is_hidden = self._is_formula = self._phonetic = False
        self._cells: dict[int, str] = {}
        self._notes: list[tuple[int, str]] = []
        self._kind, self._style = "n", 0
        self._value, self._inline = "", ""
        self._in: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._begin_row(attributes)
        elif name == "c":
            self._begin_cell(attributes)
        elif name in ("v", "t"):
            self._in = name
        elif name == "f":
            self._is_formula = True
        elif name == "rPh":
            self._phonetic = True

    def end(self, name: str) -> None:
        if name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
        elif name in ("v", "t"):
            self._in = ""
        elif name == "rPh":
            self._phonetic = False
        elif name == "sheetData":
            self.is_done = True

    def text(self, data: str) -> None:
        if self._in == "v":
            self._value += data
        elif self._in == "t" and not self._phonetic:
            self._inline += data
        if len(self._value) + len(self._inline) > 2 * file_limits.MAX_CELL:
            raise FileFault("cell", line=self._row)

    def _begin_row(self, attributes: dict[str, str]) -> None:
        number = attributes.get("r", "")
        self._row = int(number) if number.isdecimal() and len(number) < 9 else self._row + 1
        self._column, self._cells, self._notes = 0, {}, []
        self._is_hidden = is_hidden(attributes, "ht")

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._column = column_number(attributes.get("r", "")) or self._column + 1
        self._kind = attributes.get("t", "n")
        style = attributes.get("s", "0")
        self._style = int(style) if style.isdecimal() and len(style) < 9 else 0
        self._value = self._inline = ""
        self._is_formula = False

    def _end_cell(self) -> None:
        if self._is_formula and not self._has_result():
            text = mark_fault("no_result")
        elif self._kind == "inlineStr":
            text = self._framed(unescape(self._inline))
        else:
            text = self._read(self._value)
        if not text:
            return
        if self._column > file_limits.MAX_COLUMNS:
            raise FileFault("columns", line=self._row)
        self._cells[self._column] = text

    def _has_result(self) -> bool:
        """Return True if the result of a formula is stored. Some programs write 0 for each, to be calculated later."""
        if self._kind == "n":
            return self._value not in ("", "0") if self._is_uncalculated else bool(self._value)
        return self._kind in ("str", "inlineStr") or bool(self._value)

    def _read(self, value: str) -> str:
        if not value:
            return ""
        if self._kind == "s":
            place = int(value) if value.isdecimal() and len(value) < 10 else -1
            return self._framed(self._strings[place]) if 0 <= place < len(self._strings) else ""
        if self._kind == "str":
            return self._framed(unescape(value))
        if self._kind == "e":
            return mark_fault("error_value", value)
        if self._kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if self._kind == "d":
            return value.replace("T", " ").removesuffix(" 00:00:00")
        read = self._formats[self._style].read if self._style < len(self._formats) else number_formats.read_number
        text, note = read(value, self._epoch)
        if note:
            self._notes.append((self._column - 1, note))
        return text

    def _framed(self, text: str) -> str:
        """Return a text with what its format shows around it."""
        frame = self._formats[self._style].frame if self._style < len(self._formats) else None
        return f"{frame[0]}{text}{frame[1]}" if frame and text else text

    def _end_row(self) -> None:
        if not any(map(str.strip, self._cells.values())):
            self._blank += 1
            if self._blank > file_limits.MAX_BLANK_RUN:
                self.is_done = True
            return
        self._blank = 0
        cells = [self._cells.get(place, "") for place in range(1, max(self._cells) + 1)]
        self.ready.append(Line(self._row, cells, tuple(self._notes), self._is_hidden))


def unescape(text: str) -> str:
    """Return the text with the characters that XML forbids in place of XLSX's escapes, such as `_x000D_`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def column_number(reference: str) -> int:
    """Return the number of a column: AB12 -> 28; 0 for anything else."""
    number = 0
    for letter in reference[:4]:
        if not ("A" <= letter <= "Z"):
            break
        number = number * 26 + ord(letter) - 64
    return number


def is_hidden(attributes: dict[str, str], size: str) -> bool:
    """Return True if a row or a column is hidden, by a person or by a filter, or has no height or width."""
    return attributes.get("hidden", "0") in TRUE or attributes.get(size, "1").strip("0.") == ""
