"""Read a sheet of an XLSX file as rows of text. Neither the sheet nor a long row is held in memory.

Cells are returned as a person sees them: numbers without a superfluous decimal point, leading zeros and letters if the
format shows them, dates as 2026-12-01, and formulas as the result that is stored with them.
"""

import functools
import re
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import BinaryIO, NamedTuple

from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from portal.base.files import file_limits, number_formats
from portal.base.files.file_limits import FileFault
from portal.base.files.lines import MERGED, Line, mark_fault
from portal.base.files.number_formats import CellFormat
from portal.base.files.xlsx_archive import XlsxArchive, parse_part, read_elements, resolve_target

_RELATIONSHIP = "http://schemas.openxmlformats.org/officeDocument/2006/relationships id"
_STRICT_RELATIONSHIP = "http://purl.oclc.org/ooxml/officeDocument/relationships id"
_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f]|007[Ff]|[Ff]{3}[EeFf])_")
_TRUE = ("1", "true")
_SCAN_BYTES = 1024 * 1024
# In UTF-16, which begins with one of the marks, the words are not found.
_STRUCTURE_WORDS = (b"mergeCell", b"hidden", b'ht="0', b'width="0', b"\xff\xfe", b"\xfe\xff")
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})")


class Workbook:
    """The visible sheets of a workbook. Raises FileFault `xlsx`, or the fault of another kind of archive."""

    def __init__(self, source: BinaryIO) -> None:
        self._archive = XlsxArchive(source)
        self._paths: dict[str, str] = {}
        self._structures: dict[str, _Structure] = {}
        self._epoch = CALENDAR_WINDOWS_1900
        self._is_uncalculated = False
        self._read_directory()
        if not self._paths:
            raise FileFault("xlsx")

    @property
    def sheets(self) -> list[str]:
        """Return the names of the visible sheets, in their order."""
        return list(self._paths)

    def read_lines(self, sheet: str, heading_line: int = 0) -> Iterator[Line]:
        """Yield each row that is not blank. Merged cells are filled downwards, but not from headings into the rows.

        Raises FileFault: xlsx, bomb, columns, cell.
        """
        lines = self._read_rows(sheet)
        merges = self._structure(sheet).merges
        return _fill_merged(lines, merges, heading_line) if merges else lines

    def hidden_columns(self, sheet: str) -> list[int]:
        """Return the positions of hidden columns, from 0."""
        return sorted(self._structure(sheet).hidden_columns)

    def has_hidden_rows(self, sheet: str) -> bool:
        return self._structure(sheet).has_hidden_rows

    @functools.cached_property
    def _strings(self) -> list[str]:
        return _strings(self._archive)

    @functools.cached_property
    def _formats(self) -> "list[_Style]":
        return _formats(self._archive)

    def _structure(self, sheet: str) -> "_Structure":
        if sheet not in self._structures:
            self._structures[sheet] = _read_structure(self._archive, self._paths[sheet])
        return self._structures[sheet]

    def _read_rows(self, sheet: str) -> Iterator[Line]:
        rows = _RowParser(self._strings, self._formats, self._epoch, is_uncalculated=self._is_uncalculated)
        with self._archive.open(self._paths[sheet]) as part:
            for _piece in parse_part(part, rows.start, rows.end, rows.text):
                while rows.ready:
                    yield rows.ready.popleft()
                if rows.is_done:
                    return

    def _read_directory(self) -> None:
        """Find the visible sheets, the calendar, and whether formulas were never calculated."""
        book = "xl/workbook.xml"
        for tag, attributes in read_elements(self._archive, "_rels/.rels") if "_rels/.rels" in self._archive else []:
            if tag == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
                book = resolve_target("", attributes.get("Target", ""))
        folder, _slash, name = book.rpartition("/")
        if book not in self._archive or not name.endswith(".xml"):
            raise FileFault(self._archive.other_format())
        targets = {
            attributes.get("Id", ""): attributes
            for tag, attributes in read_elements(self._archive, f"{folder}/_rels/{name}.rels")
            if tag == "Relationship"
        }
        for tag, attributes in read_elements(self._archive, book):
            if tag == "workbookPr" and attributes.get("date1904", "0") in _TRUE:
                self._epoch = CALENDAR_MAC_1904
            elif tag == "calcPr":
                self._is_uncalculated = attributes.get("fullCalcOnLoad", "0") in _TRUE
            elif tag == "sheet" and attributes.get("state", "visible") == "visible":
                found = targets.get(attributes.get(_RELATIONSHIP) or attributes.get(_STRICT_RELATIONSHIP, ""), {})
                if found.get("Type", "").endswith("/worksheet"):
                    self._paths[attributes.get("name", "")] = resolve_target(book, found.get("Target", ""))


class _Merge(NamedTuple):
    """The first column of merged cells over several rows."""

    first: int
    column: int  # position from 0
    last: int


class _Structure(NamedTuple):
    """What a sheet says about its rows and columns outside of the cells."""

    merges: list[_Merge]
    hidden_columns: set[int]
    has_hidden_rows: bool


def _read_structure(archive: XlsxArchive, path: str) -> _Structure:
    """Return merged cells and hidden columns. A sheet has merged cells behind its rows, so it is read before them.

    It is only parsed if its bytes name one of these things, because parsing takes long.
    """
    merges: list[_Merge] = []
    hidden_columns: set[int] = set()
    hidden_rows = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal hidden_rows
        if name == "mergeCell" and (found := _RANGE.fullmatch(attributes.get("ref", ""))) and found[2] != found[4]:
            merges.append(_Merge(int(found[2]), _column(found[1]) - 1, int(found[4])))
            if len(merges) > file_limits.MAX_MERGES:
                raise FileFault("bomb")
        elif name == "col" and is_hidden(attributes, "width"):
            hidden_columns.update(_positions(attributes))
        elif name == "row" and is_hidden(attributes, "ht"):
            hidden_rows += 1

    if _contains(archive, path, _STRUCTURE_WORDS):
        with archive.open(path) as part:
            for _piece in parse_part(part, start):
                pass
    return _Structure(sorted(merges), hidden_columns, hidden_rows > 0)


def is_hidden(attributes: dict[str, str], size: str) -> bool:
    """Return True if a row or a column is hidden, by a person or by a filter, or has no height or width."""
    return attributes.get("hidden", "0") in _TRUE or attributes.get(size, "1").strip("0.") == ""


def _positions(attributes: dict[str, str]) -> range:
    first, last = attributes.get("min", ""), attributes.get("max", "")
    if not (first.isdecimal() and last.isdecimal()):
        return range(0)
    return range(max(int(first) - 1, 0), min(int(last), file_limits.MAX_COLUMNS))


def _contains(archive: XlsxArchive, path: str, words: tuple[bytes, ...]) -> bool:
    rest = b""
    with archive.open(path) as part:
        while piece := part.read(_SCAN_BYTES):
            if any(word in rest + piece for word in words):
                return True
            rest = piece[-16:]
    return False


def _fill_merged(lines: Iterable[Line], merges: list[_Merge], heading_line: int) -> Iterator[Line]:
    """Yield the lines with the value of merged cells in each of their rows."""
    waiting = deque(merges)
    filling: dict[int, tuple[int, str]] = {}
    for line in lines:
        while waiting and waiting[0].first <= line.number:
            first, column, last = waiting.popleft()
            text = line.cells[column] if first == line.number and column < len(line.cells) else ""
            filling[column] = (min(last, heading_line) if first <= heading_line else last, text)
        filling = {column: (last, text) for column, (last, text) in filling.items() if last >= line.number}
        yield _filled(line, filling) if filling else line


def _filled(line: Line, filling: dict[int, tuple[int, str]]) -> Line:
    cells, notes = list(line.cells), list(line.notes)
    for column, (_last, text) in sorted(filling.items()):
        cells += [""] * (column + 1 - len(cells) if text else 0)
        if text and not cells[column]:
            cells[column] = text
            notes.append((column, MERGED))
    return line._replace(cells=cells, notes=tuple(notes))


class _RowParser:
    """The handlers for expat. One row is collected at a time; complete rows wait in `ready`."""

    def __init__(
        self, strings: list[str], formats: "list[_Style]", epoch: datetime, *, is_uncalculated: bool = False
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
        self._column = _column(attributes.get("r", "")) or self._column + 1
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


def _column(reference: str) -> int:
    """Return the number of a column: AB12 -> 28; 0 for anything else."""
    number = 0
    for letter in reference[:4]:
        if not ("A" <= letter <= "Z"):
            break
        number = number * 26 + ord(letter) - 64
    return number


def _strings(package: XlsxArchive) -> list[str]:
    """Return the shared texts of cells, without the readings (furigana) of Japanese spreadsheets."""
    found: list[str] = []
    pieces: list[str] = []
    inside = {"t": False, "rPh": False}

    def start(name: str, _attributes: dict[str, str]) -> None:
        if name in inside:
            inside[name] = True

    def end(name: str) -> None:
        if name in inside:
            inside[name] = False
        elif name == "si":
            found.append(unescape("".join(pieces)))
            pieces.clear()
            if len(found) > file_limits.MAX_STRINGS:
                raise FileFault("bomb")

    def text(data: str) -> None:
        if inside["t"] and not inside["rPh"]:
            pieces.append(data)

    if "xl/sharedStrings.xml" in package:
        with package.open("xl/sharedStrings.xml") as part:
            for _piece in parse_part(part, start, end, text):
                pass
    return found


class _Style(NamedTuple):
    """How a cell shows its number, and what it shows around its text."""

    read: CellFormat
    frame: tuple[str, str] | None


def _formats(package: XlsxArchive) -> list[_Style]:
    """Return how cells are shown, by style."""
    if "xl/styles.xml" not in package:
        return []
    named = {str(number): code for number, code in BUILTIN_FORMATS.items()} | number_formats.ASIAN_DATE_FORMATS
    styles: list[str] = []
    within = False
    for tag, attributes in read_elements(package, "xl/styles.xml"):
        if tag == "numFmt":
            named[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif tag in ("cellXfs", "cellStyleXfs", "cellStyles", "dxfs"):
            within = tag == "cellXfs"
        elif tag == "xf" and within:
            styles.append(named.get(attributes.get("numFmtId", "0"), "General"))
    by_code = {code: _Style(number_formats.compile_format(code), number_formats.compile_text_format(code))
               for code in set(styles)}  # fmt: skip
    return [by_code[code] for code in styles]
