"""A workbook of any length, put together while it is sent from rows that were written before.

openpyxl makes everything but the rows: sheets, headings, styles. Its own rows take it minutes for a million of them.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

from openpyxl import Workbook

from portal.core.files.writing import text_cell

# Of a sheet: its rows with the heading by the format, its bytes so that no reader needs the format's extension.
MAX_ROWS_PER_SHEET = 1_048_575
MAX_BYTES_PER_SHEET = 1_500_000_000
_MAX_CELL_LENGTH = 32_767  # characters in a cell, by the format
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_TEXT_STYLE = 1  # the one that the headings have: text
_END = b"</sheetData>"


def render_rows(lines: Iterable[Sequence[str]]) -> bytes:
    """The rows of a sheet, to be put between others: every cell a text, so that nothing is a formula."""
    return "".join(f"<row>{''.join(map(_cell, cells))}</row>" for cells in lines).encode()


def _cell(text: str) -> str:
    if not text:
        return "<c/>"
    said = _FORBIDDEN.sub(lambda found: f"_x{ord(found[0]):04X}_", text[:_MAX_CELL_LENGTH])
    return f'<c t="inlineStr" s="{_TEXT_STYLE}"><is><t xml:space="preserve">{escape(said)}</t></is></c>'


def count_parts_per_sheet(parts: Iterable[tuple[int, int]]) -> list[int]:
    """How many parts, one after the other, go into each sheet; parts are (rows, bytes). At least one sheet."""
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
    """The workbook, piece by piece: sheets of so many parts each, called `title`, and one more: (its title, lines)."""
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
    """The same workbook without its rows."""
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
    """Keeps what is written until somebody takes it along."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def flush(self) -> None:
        """Do nothing: nobody reads before `take_written`."""

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def take_written(self) -> bytes:
        """What was written since it was asked for last."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
