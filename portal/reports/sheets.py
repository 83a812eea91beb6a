"""A report as a workbook: a first sheet with what it is about, its figures and how complete it is; then its tables."""

import tempfile
from collections.abc import Iterable
from typing import Any, BinaryIO

from django.utils.translation import gettext as _
from openpyxl import Workbook

from portal.core.files.writing import cell_of
from portal.reports.content import Head, Line, Sheet

#: Of a sheet, by the format; what is beyond goes into one more.
MOST_LINES = 1_000_000
_MOST_TITLE = 31


def write(head: Head, lines: Iterable[Line], *, tenant: str, made: str) -> BinaryIO:
    """Return the workbook, written line by line."""
    book = Workbook(write_only=True)
    about = book.create_sheet(_("About"))
    for told in _about(head, tenant, made):
        about.append([cell_of(about, text) for text in told])
    begun = [_begin(book, table.title, table) for table in head.sheets]
    counts = [0] * len(begun)
    for number, cells in lines:
        counts[number] += 1
        if counts[number] % MOST_LINES == 0:
            table = head.sheets[number]
            begun[number] = _begin(book, f"{table.title} {counts[number] // MOST_LINES + 1}", table)
        begun[number].append([cell_of(begun[number], cell) for cell in cells])
    target: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    book.save(target)
    target.seek(0)
    return target


def _begin(book: Workbook, title: str, table: Sheet) -> Any:
    """Return a new sheet with the headings of a table."""
    sheet = book.create_sheet(title[:_MOST_TITLE])
    sheet.append([cell_of(sheet, text) for text in table.columns])
    return sheet


def _about(head: Head, tenant: str, made: str) -> Iterable[list[str]]:
    yield [tenant]
    yield [head.title, head.about]
    yield [head.period]
    for sentence in head.complete:
        yield [sentence]
    for figure in head.figures:
        yield [figure.label, figure.value, figure.beside]
    for sheet in head.sheets:
        if sheet.note:
            yield [sheet.title, sheet.note]
    yield [made]
