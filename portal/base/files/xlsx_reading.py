"""Read a sheet of an XLSX file as rows of text. Neither the sheet nor a long row is held in memory.

Cells are returned as a person sees them: numbers without a superfluous decimal point, leading zeros and letters if the
format shows them, dates as 2026-12-01, and formulas as the result that is stored with them.
"""

import codecs
import functools
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from portal.base.files import file_limits, number_formats
from portal.base.files.file_limits import FileFault
from portal.base.files.lines import MERGED, Line
from portal.base.files.xlsx_archive import XlsxArchive, parse_part, read_elements, resolve_target
from portal.base.files.xlsx_rows import TRUE, CellStyle, RowParser, column_number, is_hidden, unescape

_RELATIONSHIP = "http://schemas.openxmlformats.org/officeDocument/2006/relationships id"
_STRICT_RELATIONSHIP = "http://purl.oclc.org/ooxml/officeDocument/relationships id"
_SCAN_BYTES = 1024 * 1024
_MERGE_WORDS, _HIDING_WORDS = (b"mergeCell",), (b"hidden", b' ht="0', b' width="0')
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})")


class XlsxFile:
    """The visible sheets of a workbook. Raises FileFault `xlsx`, or the fault of another kind of archive."""

    def __init__(self, source: BinaryIO) -> None:
        self._archive = XlsxArchive(source)
        self._paths: dict[str, str] = {}
        self._words: dict[str, set[bytes]] = {}
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
        merges = self._structure(sheet, _MERGE_WORDS).merges
        return _fill_merged(lines, merges, heading_line) if merges else lines

    def hidden_columns(self, sheet: str) -> list[int]:
        """Return the positions of hidden columns, from 0."""
        return sorted(self._structure(sheet, _HIDING_WORDS).hidden_columns)

    def has_hidden_rows(self, sheet: str) -> bool:
        return self._structure(sheet, _HIDING_WORDS).has_hidden_rows

    @functools.cached_property
    def _strings(self) -> list[str]:
        return _strings(self._archive)

    @functools.cached_property
    def _formats(self) -> list[CellStyle]:
        return _formats(self._archive)

    def _structure(self, sheet: str, words: Sequence[bytes]) -> "_Structure":
        """Return the structure of a sheet. It is only parsed if its bytes have one of the words: parsing takes long."""
        path = self._paths[sheet]
        if sheet not in self._words:
            self._words[sheet] = _find_words(self._archive, path)
        if self._words[sheet].isdisjoint(words):
            return _Structure([], set(), has_hidden_rows=False)
        if sheet not in self._structures:
            self._structures[sheet] = _read_structure(self._archive, path)
        return self._structures[sheet]

    def _read_rows(self, sheet: str) -> Iterator[Line]:
        rows = RowParser(self._strings, self._formats, self._epoch, is_uncalculated=self._is_uncalculated)
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
            if tag == "workbookPr" and attributes.get("date1904", "0") in TRUE:
                self._epoch = CALENDAR_MAC_1904
            elif tag == "calcPr":
                self._is_uncalculated = attributes.get("fullCalcOnLoad", "0") in TRUE
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
    """Return merged cells and hidden columns. A sheet names merged cells behind its rows, so this comes first."""
    merges: list[_Merge] = []
    hidden_columns: set[int] = set()
    hidden_rows = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal hidden_rows
        if name == "mergeCell" and (found := _RANGE.fullmatch(attributes.get("ref", ""))) and found[2] != found[4]:
            merges.append(_Merge(int(found[2]), column_number(found[1]) - 1, int(found[4])))
            if len(merges) > file_limits.MAX_MERGES:
                raise FileFault("bomb")
        elif name == "col" and is_hidden(attributes, "width"):
            hidden_columns.update(_positions(attributes))
        elif name == "row" and is_hidden(attributes, "ht"):
            hidden_rows += 1

    with archive.open(path) as part:
        for _piece in parse_part(part, start):
            pass
    return _Structure(sorted(merges), hidden_columns, hidden_rows > 0)


def _positions(attributes: dict[str, str]) -> range:
    first, last = attributes.get("min", ""), attributes.get("max", "")
    if not (first.isdecimal() and last.isdecimal()):
        return range(0)
    return range(max(int(first) - 1, 0), min(int(last), file_limits.MAX_COLUMNS))


def _find_words(archive: XlsxArchive, path: str) -> set[bytes]:
    """Return the words that a part has. In UTF-16 they would not be found, so it counts as having all."""
    words = {*_MERGE_WORDS, *_HIDING_WORDS}
    found: set[bytes] = set()
    rest = b""
    with archive.open(path) as part:
        while piece := part.read(_SCAN_BYTES):
            if not rest and piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return words
            text = rest + piece
            found |= {word for word in words - found if word in text}
            rest = piece[-16:]
    return found


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


def _formats(package: XlsxArchive) -> list[CellStyle]:
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
    by_code = {code: CellStyle(number_formats.compile_format(code), number_formats.compile_text_format(code))
               for code in set(styles)}  # fmt: skip
    return [by_code[code] for code in styles]
