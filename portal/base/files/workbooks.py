"""Write workbooks (XLSX) with typed cells, as a stream of any length.

Text stays text with its leading zeros, and nothing is a formula. Headings are bold, frozen and filtered. The rows may
have been rendered long before. openpyxl creates everything except the sheets, because it takes minutes for a million
rows.
"""

import io
import itertools
import math
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import IntEnum
from functools import partial
from html import unescape
from typing import Any
from xml.sax.saxutils import escape

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font
from openpyxl.styles.fonts import DEFAULT_FONT
from openpyxl.utils import get_column_letter

from portal.base.files.cells import CellValue, cell_text

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# Per sheet: within the format's maximum of rows; few enough bytes for readers without ZIP64.
MAX_ROWS_PER_SHEET = 1_000_000
MAX_BYTES_PER_SHEET = 1_500_000_000
_MAX_TITLE, _MAX_CELL_LENGTH = 31, 32_767  # characters, by the format
_DAY, _DAY_ZERO = 86_400, date(1899, 12, 30).toordinal()
# Earlier days have other numbers in other programs, because Excel takes 1900 for a leap year.
_FIRST_DAY = date(1900, 3, 1).toordinal()
# Spreadsheets store fifteen digits of a number.
_EXACT = 10**15
_MIN_WIDTH, _MAX_WIDTH, _ARROW = 6, 60, 3  # in narrow characters; the arrow of the filter needs three
_ROWS_PER_PART, _MEASURED_ROWS = 500, 200
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")


class _Style(IntEnum):
    """The styles of cells by their number in the workbook, after the standard style 0."""

    TEXT = 1
    HEADING = 2
    NUMBER = 3
    DECIMAL = 4
    DAY = 5
    MINUTES = 6
    SECONDS = 7
    DURATION = 8


_FORMATS = {
    _Style.TEXT: "@",
    _Style.HEADING: "@",
    _Style.NUMBER: "#,##0",
    _Style.DECIMAL: "General",
    _Style.DAY: "yyyy-mm-dd",
    _Style.MINUTES: "yyyy-mm-dd hh:mm",
    _Style.SECONDS: "yyyy-mm-dd hh:mm:ss",
    _Style.DURATION: "[h]:mm:ss",
}
# The widths of cells whose text is not in the file.
_LENGTHS: dict[int, int] = {_Style.DAY: 10, _Style.MINUTES: 16, _Style.SECONDS: 19, _Style.DURATION: 9}
_EMPTY_TEXT = f'<c s="{_Style.TEXT:d}"/>'
_TEXT, _HEADING = (
    f'<c t="inlineStr" s="{style:d}"><is><t xml:space="preserve">' for style in (_Style.TEXT, _Style.HEADING)
)
_CELL = re.compile(r'<c(?: t="inlineStr")?(?: s="(\d+)")?(?:/>|>(?:<is><t [^>]*>|<v>)([^<]*)<)')
_BEGIN = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    '<sheetViews><sheetView workbookViewId="0">{view}</sheetView></sheetViews><cols>{columns}</cols><sheetData>'
)
_FROZEN = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/>'
# Digits that are text get no warning: its button would make numbers of them, without their leading zeros.
_END_OF_TABLE = (
    '</sheetData><autoFilter ref="{cells}"/>'
    '<ignoredErrors><ignoredError sqref="{cells}" numberStoredAsText="1"/></ignoredErrors></worksheet>'
)
_END = "</sheetData></worksheet>"
_CountedPart = tuple[bytes, int]  # with the number of its rows


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook: its headings, its rows in parts from `render_rows`, and notes below the filtered rows.

    Without headings nothing is frozen or filtered.
    """

    title: str
    heading: Sequence[str]
    parts: Iterable[bytes]
    notes: Iterable[str] = ()


def render_parts(lines: Iterable[Sequence[CellValue]]) -> Iterator[bytes]:
    """Yield a sheet's rows in parts."""
    remaining = iter(lines)
    while some := list(itertools.islice(remaining, _ROWS_PER_PART)):
        yield render_rows(some)


def render_rows(lines: Iterable[Sequence[CellValue]], *, has_seconds: bool = False) -> bytes:
    """Return the XML of a sheet's rows. With `has_seconds`, times show seconds even if they are 0."""
    drawers = _DRAWERS | {datetime: partial(_draw_moment, has_seconds=True)} if has_seconds else _DRAWERS
    find = drawers.get
    return "".join(
        [f"<row>{''.join([find(type(cell), _draw_other)(cell) for cell in cells])}</row>" for cells in lines]
    ).encode()


def _draw_text(text: str) -> str:
    return f"{_TEXT}{_content(text)}</t></is></c>" if text else _EMPTY_TEXT


def _draw_other(value: object) -> str:
    return _draw_text(str(value))


def _content(text: str) -> str:
    # Control characters are written as XLSX escapes, because XML cannot contain them.
    return escape(_FORBIDDEN.sub(lambda found: f"_x{ord(found[0]):04X}_", text[:_MAX_CELL_LENGTH]))


def _draw_number(value: float, style: int) -> str:
    return f'<c s="{style:d}"><v>{value}</v></c>'


def _draw_whole(value: int) -> str:
    return _draw_number(value, _Style.NUMBER) if abs(value) < _EXACT else _draw_other(value)


def _draw_decimal(value: float) -> str:
    return _draw_number(value, _Style.DECIMAL) if math.isfinite(value) else _draw_other(value)


def _draw_day(day: date) -> str:
    number = day.toordinal()
    return _draw_number(number - _DAY_ZERO, _Style.DAY) if number >= _FIRST_DAY else _draw_text(cell_text(day))


def _draw_moment(moment: datetime, *, has_seconds: bool = False) -> str:
    day = moment.toordinal()
    if day < _FIRST_DAY:
        return _draw_text(cell_text(moment))
    seconds = (day - _DAY_ZERO) * _DAY + moment.hour * 3600 + moment.minute * 60 + moment.second
    return _draw_number(seconds / _DAY, _Style.SECONDS if has_seconds or moment.second else _Style.MINUTES)


def _draw_duration(length: timedelta) -> str:
    return _draw_number(length // timedelta(seconds=1) / _DAY, _Style.DURATION)


_DRAWERS: dict[type, Callable[[Any], str]] = {
    str: _draw_text,
    type(None): lambda _value: "<c/>",
    int: _draw_whole,
    float: _draw_decimal,
    date: _draw_day,
    datetime: _draw_moment,
    timedelta: _draw_duration,
}


def write_workbook(sheets: Iterable[Sheet]) -> Iterator[bytes]:
    """Yield a workbook in pieces. Titles are shortened to what the format allows.

    A table that is too long for a sheet goes on in another one with the same headings.
    """
    target: Any = _OutputBuffer()
    written: list[tuple[str, str]] = []  # the title and the filtered cells of each sheet
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for sheet in sheets:
            parts = iter(sheet.parts)
            # A table without rows has a sheet, too.
            known = itertools.chain([next(parts, b"")], parts, map(_render_note, sheet.notes))
            counted = ((part, part.count(b"<row>")) for part in known)
            for number, some in itertools.groupby(counted, key=_SheetCounter()):
                table = _Table(sheet.heading)
                with archive.open(f"xl/worksheets/sheet{len(written) + 1}.xml", "w") as entry:
                    for piece in table.write(some):
                        entry.write(piece)
                        yield target.take_written()
                more = f" {number + 1}" if number else ""
                written.append((sheet.title[: _MAX_TITLE - len(more)] + more, table.cells))
        frame = zipfile.ZipFile(_create_frame(written))
        for name in frame.namelist():
            if not name.startswith("xl/worksheets/"):
                archive.writestr(name, frame.read(name))
    yield target.take_written()


def _render_note(text: str) -> bytes:
    """Return the XML of a row that is not counted, so that it is not filtered."""
    return f'<row spans="1:1">{_draw_text(text)}</row>'.encode()


class _SheetCounter:
    """Returns for each part of a table the number of its sheet, from 0."""

    def __init__(self) -> None:
        self._number = self._rows = self._size = 0

    def __call__(self, counted: _CountedPart) -> int:
        part, rows = counted
        if self._rows + rows > MAX_ROWS_PER_SHEET or self._size + len(part) > MAX_BYTES_PER_SHEET:
            self._number += bool(self._rows)
            self._rows = self._size = 0
        self._rows, self._size = self._rows + rows, self._size + len(part)
        return self._number


class _Table:
    """Writes one sheet. `cells` is the range of its headings and rows; "" without headings."""

    def __init__(self, heading: Sequence[str]) -> None:
        self._heading = heading
        self._rows = 0

    def write(self, parts: Iterator[_CountedPart]) -> Iterator[bytes]:
        """Yield the sheet in pieces. The columns' widths are those of the first part."""
        first, self._rows = next(parts)
        view = _FROZEN if self._heading else ""
        yield _BEGIN.format(view=view, columns="".join(_draw_columns(self._heading, first))).encode()
        if self._heading:
            head = "".join(f"{_HEADING}{_content(text)}</t></is></c>" for text in self._heading)
            yield f'<row r="1">{head}</row>'.encode()
        yield first
        for part, rows in parts:
            self._rows += rows
            yield part
        yield (_END_OF_TABLE.format(cells=self.cells) if self._heading else _END).encode()

    @property
    def cells(self) -> str:
        return f"A1:{get_column_letter(len(self._heading))}{self._rows + 1}" if self._heading else ""


def _draw_columns(heading: Sequence[str], part: bytes) -> Iterator[str]:
    """Yield the XML of each column: its width, and that new cells are text where all others are."""
    rows = [_CELL.findall(row.decode()) for row in part.split(b"</row>", _MEASURED_ROWS)[:_MEASURED_ROWS]]
    named = [[(_Style.HEADING, f"{text}{' ' * _ARROW}") for text in heading]]
    for number, cells in enumerate(itertools.zip_longest(*named, *rows, fillvalue=("", "")), start=1):
        longest = max(_width_of(style, text) for style, text in cells)
        width = min(max(longest + 1, _MIN_WIDTH), _MAX_WIDTH)
        styles = {style for style, _text in cells[1:]} - {""}
        style = f' style="{_Style.TEXT:d}"' if styles == {str(int(_Style.TEXT))} else ""
        yield f'<col min="{number}" max="{number}" width="{width}" customWidth="1"{style}/>'


def _width_of(style: str | int, text: str) -> int:
    """Return the width of a cell in narrow characters; of the longest of its lines."""
    if known := _LENGTHS.get(int(style or 0)):
        return known
    lines = unescape(text).split("\n")
    return max(sum(2 if unicodedata.east_asian_width(each) in "WFA" else 1 for each in line) for line in lines)


def _create_frame(sheets: Iterable[tuple[str, str]]) -> io.BytesIO:
    """Return a workbook with these sheets, without their rows, and with the styles."""
    book, target = Workbook(write_only=True), io.BytesIO()
    for title, cells in sheets:
        book.create_sheet(title).auto_filter.ref = cells or None
    for style, number_format in _FORMATS.items():
        cell = WriteOnlyCell(book.worksheets[0])
        cell.number_format = number_format
        cell.font = Font(name=DEFAULT_FONT.name, size=DEFAULT_FONT.size, bold=style == _Style.HEADING)
        if cell.style_id != style:
            raise RuntimeError("The styles of the workbook have other numbers.")
    book.save(target)
    return target


class _OutputBuffer:
    """A buffer that stores what is written until `take_written` is called."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def flush(self) -> None:
        """Do nothing: the buffer is only read by `take_written`."""

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def take_written(self) -> bytes:
        """Return what was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
