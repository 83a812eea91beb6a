"""Write a report as a workbook.

The first sheet has the subject, the figures and the completeness; then tables follow.
"""

import tempfile
from collections.abc import Iterable
from typing import Any, BinaryIO

from django.utils.translation import gettext as _
from openpyxl import Workbook

from portal.base.files.writing import text_cell
from portal.reports.content import ReportHead, ReportTable, TableLine

# The most lines of a sheet in this file format; further lines go to another sheet.
MAX_SHEET_LINES = 1_000_000
_MAX_TITLE = 31


def write_workbook(head: ReportHead, lines: Iterable[TableLine], *, tenant: str, made: str) -> BinaryIO:
    """Return the workbook as a file. It is written line by line."""
    book = Workbook(write_only=True)
    about = book.create_sheet(_("About"))
    for told in _about_rows(head, tenant, made):
        about.append([text_cell(about, text) for text in told])
    begun = [_add_sheet(book, table.title, table) for table in head.sheets]
    counts = [0] * len(begun)
    for number, cells in lines:
        counts[number] += 1
        if counts[number] % MAX_SHEET_LINES == 0:
            table = head.sheets[number]
            begun[number] = _add_sheet(book, f"{table.title} {counts[number] // MAX_SHEET_LINES + 1}", table)
        begun[number].append([text_cell(begun[number], cell) for cell in cells])
    target: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    book.save(target)
    target.seek(0)
    return target


def _add_sheet(book: Workbook, title: str, table: ReportTable) -> Any:
    """Return a new sheet with the headings of a table."""
    sheet = book.create_sheet(title[:_MAX_TITLE])
    sheet.append([text_cell(sheet, text) for text in table.columns])
    return sheet


def _about_rows(head: ReportHead, tenant: str, made: str) -> Iterable[list[str]]:
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
