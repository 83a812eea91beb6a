"""What a list shows, as a file: CSV that Excel in Japan opens, or XLSX."""

import csv
import io
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from portal.ui.chips import Chip
from portal.ui.tables.table import Table
from portal.ui.times import local

KINDS = ("csv", "xlsx")
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def respond(table: Table, kind: str) -> HttpResponseBase:
    """All rows that match, in the list's order, with its exported columns, whichever are shown. `kind` is one of KINDS.

    Values go out as they are: text that looks like a formula stays text in XLSX, and unchanged in CSV.
    """
    name = file_name(table, kind)
    if kind == "xlsx":
        return FileResponse(_xlsx(table), as_attachment=True, filename=name, content_type=_XLSX)
    return StreamingHttpResponse(
        _csv(table),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def file_name(table: Table, kind: str) -> str:
    """Such as members-20261121-0941.csv, in Japanese time."""
    return f"{table.name}-{local(timezone.now()):%Y%m%d-%H%M}.{kind}"


def lines(table: Table) -> Iterator[list[Any]]:
    """The heading and then a list of plain values a row; last, what has to be known about all of them."""
    columns = [column for column in table.columns if column.export]
    yield [str(column.label) for column in columns]
    for row in table.ordered.iterator(chunk_size=2000):
        yield [_plain(column.read(row)) for column in columns]
    if table.file_note:
        yield [table.file_note]


def _csv(table: Table) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    yield b"\xef\xbb\xbf"
    for number, line in enumerate(lines(table)):
        writer.writerow(line)
        if number % 500 == 499:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _xlsx(table: Table) -> io.BytesIO:
    book = Workbook(write_only=True)
    sheet = book.create_sheet(table.name[:31])
    for line in lines(table):
        sheet.append([_text_cell(sheet, value) for value in line])
    target = io.BytesIO()
    book.save(target)
    target.seek(0)
    return target


def _text_cell(sheet: Any, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    cell = WriteOnlyCell(sheet, value="".join(c for c in value if c >= " " or c in "\t\n\r"))
    cell.data_type = "s"
    return cell


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool):
        return _("yes") if value else ""
    if isinstance(value, datetime):
        return local(value).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, date):
        return value.isoformat()
    return value.word if isinstance(value, Chip) else str(value)
