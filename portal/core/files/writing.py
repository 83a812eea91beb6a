"""Files for people to correct and bring back: the columns they uploaded, and why a row was not applied."""

import csv
import io
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from portal.core.files.marks import guarded

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def csv_of(lines: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """UTF-8 with the mark that lets Excel read Japanese, every cell quoted where needed and safe from formulas."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    yield b"\xef\xbb\xbf"
    for number, cells in enumerate(lines, start=1):
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in cells])
        if number % 500 == 0:
            yield _taken(buffer)
    yield _taken(buffer)


def xlsx_of(lines: Iterable[Sequence[Any]], title: str, *, guard: bool = True) -> BinaryIO:
    """A workbook in which what is no number is text: zeros in front stay when a person edits it, nothing is a formula.

    With `guard` the apostrophe stands before formulas all the same, for when somebody saves it as CSV.
    """
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title[:31])
    for cells in lines:
        sheet.append([_cell(sheet, guarded(cell) if guard and isinstance(cell, str) else cell) for cell in cells])
    target = tempfile.SpooledTemporaryFile(max_size=4 * 1024 * 1024)  # noqa: SIM115 - the answer closes it
    book.save(target)
    target.seek(0)
    return target  # type: ignore[return-value]


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    return text


def _cell(sheet: Any, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # Control characters as XLSX writes them: XML itself cannot hold them.
    cell = WriteOnlyCell(sheet, value=_FORBIDDEN.sub(lambda found: f"_x{ord(found[0]):04X}_", value))
    cell.data_type = "s"
    cell.number_format = "@"
    return cell
