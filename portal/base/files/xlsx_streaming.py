"""Stream a workbook of any length from rows that were rendered before.

openpyxl creates everything except the rows, because it takes minutes for a million of them.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

from openpyxl import Workbook

from portal.base.files.writing import text_cell

# Per sheet: the format's maximum of rows without the heading; few enough bytes for readers without ZIP64.
MAX_ROWS_PER_SHEET = 1_048_575
MAX_BYTES_PER_SHEET = 1_500_000_000
_MAX_CELL_LENGTH = 32_767  # characters in a cell, by the format
_FORBIDDEN_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_TEXT_STYLE = 1  # the text style, which the headings have
_END = b"</sheetData>"


def render_rows(lines: Iterable[Sequence[str]]) -> bytes:
    """Return the XML of a sheet's rows. Every cell is text, so that nothing is a formula."""
    return "".join(f"<row>{''.join(map(_cell, cells))}</row>" for cells in lines).encode()


def _cell(text: str) -> str:
    if not text:
        return "<c/>"
    said = _FORBIDDEN_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text[:_MAX_CELL_LENGTH])
    return f'<c t="inlineStr" s="{_TEXT_STYLE}"><is><t xml:space="preserve">{escape(said)}</t></is></c>'


def count_parts_per_sheet(parts: Iterable[tuple[int, int]]) -> list[int]:
    """Return how many consecutive parts go into each sheet; parts are (rows, bytes). At least one sheet."""
    sheets, rows, size = [0], 0, 0
    for part_rows, part_bytes in parts:
        if sheets[-1] and (rows + part_rows > MAX_ROWS_PER_SHEET or size + part_bytes > MAX_BYTES_PER_SHEET):
            sheets.append(0)
            rows = size = 0
        sheets[-1] += 1
        rows, size = rows + part_rows, size + part_bytes
    return sheets


def stream_workbook(
    sheets: Sequence[int], parts: Iterator[bytes], *, title: str, heading: Sequence[str], about: tuple[str, Any]
) -> Iterator[bytes]:
    """Yield the workbook in pieces: sheets called `title` of so many parts, and the sheet `about`: (title, lines)."""
    frame = zipfile.ZipFile(_workbook_without_rows(len(sheets), title, heading, about))
    target: Any = _OutputBuffer()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        counts = {f"xl/worksheets/sheet{number}.xml": count for number, count in enumerate(sheets, start=1)}
        for name in frame.namelist():
            fixed = frame.read(name)
            end = fixed.index(_END) if name in counts else len(fixed)
            with book.open(name, "w") as entry:
                entry.write(fixed[:end])
                for _ in range(counts.get(name, 0)):
                    entry.write(next(parts))
                    yield target.take_written()
                entry.write(fixed[end:])
    yield target.take_written()


def _workbook_without_rows(sheets: int, title: str, heading: Sequence[str], about: tuple[str, Any]) -> io.BytesIO:
    """Return the workbook without its rows."""
    book, target = Workbook(write_only=True), io.BytesIO()
    for number in range(1, sheets + 1):
        sheet = book.create_sheet(title if number == 1 else f"{title} {number}")
        sheet.append([text_cell(sheet, text) for text in heading])
    sheet = book.create_sheet(about[0])
    for cells in about[1]:
        sheet.append([text_cell(sheet, text) for text in cells])
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
