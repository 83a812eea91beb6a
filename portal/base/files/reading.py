"""Open a file of people, find its table, and read it: CSV and XLSX in the same way.

A layout says how a file is read. It is found when the file arrives, can be changed by a person, and is stored.
"""

import dataclasses
import hashlib
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.core.files.uploadedfile import UploadedFile

from portal.base.files import csv_reading, encodings, file_limits
from portal.base.files.encodings import Chunks
from portal.base.files.file_limits import FileFault
from portal.base.files.lines import LOST_DIGITS, Line, cell_fault, shown_text
from portal.base.files.writing import is_portal_file, unescape_formula
from portal.base.files.xlsx_reading import XlsxFile
from tenants import vault
from tenants.scope import current_tenant_id

__all__ = ["LOST_DIGITS", "FileInfo", "Layout", "Line", "cell_fault", "fingerprint_upload", "inspect_file", "open_rows",
           "shown_text"]  # fmt: skip

IsHeading = Callable[[str], bool]
SAMPLE_ROWS = 5
# The headings are looked for in so many rows, and lost letters of a workbook in so many.
_TOP_ROWS = 10
_DOUBTED_ROWS = 1_000
# A workbook may have more sheets, but the table is looked for in the first ones.
_MAX_SHEETS = 30


@dataclass(frozen=True)
class Layout:
    """How a file is read. `heading_line` is a row of the sheet or a line of the file, or a blank one above it.

    In a wanted layout, an empty value and line 0 mean that it is found.
    """

    kind: Literal["csv", "xlsx"]
    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""
    heading_line: int = 1
    leaves_out_hidden: bool = False

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Layout":
        return cls(**stored)


@dataclass(frozen=True)
class FileInfo:
    """The result of an inspection: the layout, the headings and first rows, and what a person should know.

    `top_lines` are the first rows that are not blank, from which the headings can be chosen. `encodings` are all that
    fit (the present one first). `hidden_rows` counts rows below the headings; `hidden_columns` are positions from 0.
    `doubts` are codes of `encodings.DOUBTS`, or `two_encodings`.
    """

    layout: Layout
    headings: list[str]
    sample: list[list[str]]
    top_lines: list[tuple[int, list[str]]]
    sheets: list[str] = dataclasses.field(default_factory=list)
    encodings: list[str] = dataclasses.field(default_factory=list)
    hidden_rows: int = 0
    hidden_columns: list[int] = dataclasses.field(default_factory=list)
    doubts: list[str] = dataclasses.field(default_factory=list)


def inspect_file(chunks: Chunks, is_heading: IsHeading, wanted: Layout | None = None) -> FileInfo:
    """Find the table of a file by its content, regardless of its name. Raises FileFault.

    `is_heading` recognises known headings.
    """
    first = next(iter(chunks()), b"")
    if not first:
        raise FileFault("empty")
    if code := _other_format(first):
        raise FileFault(code)
    kind: Literal["csv", "xlsx"] = "xlsx" if first[:4] in _ARCHIVES else "csv"
    wanted = wanted if wanted and wanted.kind == kind else Layout(kind, heading_line=0)
    return (_inspect_workbook if kind == "xlsx" else _inspect_csv)(chunks, is_heading, wanted)


def open_rows(layout: Layout, chunks: Chunks) -> tuple[list[str], Iterator[Line]]:
    """Return the headings, and a stream of the rows below them. Raises FileFault, also while the rows are read."""
    if layout.kind == "csv":
        dialect = csv_reading.Dialect(layout.encoding, layout.delimiter)
        return _below_headings(csv_reading.read_lines(chunks(), dialect), layout)
    book = _open_workbook(chunks)
    sheet, _top = _choose_sheet(book, lambda _heading: False, layout.sheet)
    return _below_headings(book.read_lines(sheet, layout.heading_line), layout)


def fingerprint_upload(upload: "UploadedFile[bytes]", purpose: str) -> bytes:
    """Return a keyed digest of an uploaded file, by which the same file is recognized."""
    digest = hashlib.sha256()
    for chunk in upload.chunks(file_limits.CHUNK_BYTES):
        digest.update(chunk)
    return vault.fingerprint(current_tenant_id(), purpose, digest.hexdigest())


def _inspect_csv(chunks: Chunks, is_heading: IsHeading, wanted: Layout) -> FileInfo:
    found = encodings.detect_encoding(chunks, wanted.encoding)
    dialect = csv_reading.Dialect(found.encoding, wanted.delimiter or csv_reading.detect_delimiter(found.sample))
    top = list(itertools.islice(csv_reading.read_lines(chunks(), dialect), _TOP_ROWS))
    layout = dataclasses.replace(
        wanted,
        encoding=dialect.encoding,
        delimiter=dialect.delimiter,
        heading_line=_heading_line(top, is_heading, wanted),
    )
    headings, lines = open_rows(layout, chunks)
    sample = [line.cells for line in itertools.islice(lines, SAMPLE_ROWS)]
    return _info(layout, headings, sample, top, encodings=found.fitting, doubts=found.doubts)


def _inspect_workbook(chunks: Chunks, is_heading: IsHeading, wanted: Layout) -> FileInfo:
    book = _open_workbook(chunks)
    sheet, top = _choose_sheet(book, is_heading, wanted.sheet)
    layout = dataclasses.replace(wanted, sheet=sheet, heading_line=_heading_line(top, is_heading, wanted))
    headings, lines = _below_headings(book.read_lines(sheet, layout.heading_line), layout)
    beginning = list(itertools.islice(lines, _DOUBTED_ROWS))
    sample = [line.cells for line in beginning[:SAMPLE_ROWS]]
    text = "\n".join("\t".join(line.cells) for line in (*top, *beginning))
    return _info(
        layout,
        headings,
        sample,
        top,
        sheets=book.sheets,
        hidden_rows=_count_hidden(book, layout) if book.has_hidden_rows(sheet) else 0,
        hidden_columns=[place for place in book.hidden_columns(sheet) if place < max(map(len, (headings, *sample)))],
        doubts=sorted(encodings.find_doubts(text)),
    )


def _info(layout: Layout, headings: list[str], sample: list[list[str]], top: list[Line], **more: Any) -> FileInfo:
    if not sample:
        raise FileFault("no_rows")
    return FileInfo(layout, headings, sample, [(line.number, line.cells) for line in top], **more)


def _count_hidden(book: XlsxFile, layout: Layout) -> int:
    whole = dataclasses.replace(layout, leaves_out_hidden=False)
    _headings, lines = _below_headings(book.read_lines(layout.sheet, layout.heading_line), whole)
    return sum(line.is_hidden for line in lines)


def _open_workbook(chunks: Chunks) -> XlsxFile:
    """Open a workbook in memory (packed and limited), because an archive must be read from its end."""
    return XlsxFile(io.BytesIO(b"".join(chunks())))


def _choose_sheet(book: XlsxFile, is_heading: IsHeading, wanted: str) -> tuple[str, list[Line]]:
    """Return the wanted sheet, or the first with known headings, or the first that is not empty; and its first rows."""
    if wanted and wanted not in book.sheets:
        raise FileFault("no_sheet", sheet=wanted)
    tops = {
        sheet: list(itertools.islice(book.read_lines(sheet), _TOP_ROWS))
        for sheet in ([wanted] if wanted else book.sheets[:_MAX_SHEETS])
    }
    if wanted and not tops[wanted]:
        raise FileFault("empty_sheet", sheet=wanted)
    # A cover sheet may have a single cell that looks like a heading.
    for least in (2, 1, 0):
        for sheet, top in tops.items():
            if top and max(_count_headings(line, is_heading) for line in top) >= least:
                return sheet, top
    raise FileFault("empty")


def _heading_line(top: list[Line], is_heading: IsHeading, wanted: Layout) -> int:
    """Return the line with the most known headings, otherwise the first one."""
    if not top:
        raise FileFault("empty")
    return wanted.heading_line or max(top, key=lambda line: _count_headings(line, is_heading)).number


def _count_headings(line: Line, is_heading: IsHeading) -> int:
    return sum(is_heading(cell) for cell in line.cells if cell.strip())


def _below_headings(lines: Iterator[Line], layout: Layout) -> tuple[list[str], Iterator[Line]]:
    heading = next((line for line in lines if line.number >= layout.heading_line), None)
    if heading is None:
        raise FileFault("no_rows" if layout.heading_line > 1 else "empty")
    if len(heading.cells) > file_limits.MAX_COLUMNS:
        raise FileFault("columns", line=heading.number)
    if layout.leaves_out_hidden:
        lines = (line for line in lines if not line.is_hidden)
    if is_portal_file(heading.cells):
        lines = (line._replace(cells=[unescape_formula(cell) for cell in line.cells]) for line in lines)
    return heading.cells, _check_limits(lines)


def _check_limits(lines: Iterable[Line]) -> Iterator[Line]:
    for count, line in enumerate(lines, start=1):
        if count > file_limits.MAX_ROWS:
            raise FileFault("rows")
        if len(line.cells) > file_limits.MAX_COLUMNS:
            raise FileFault("columns", line=line.number)
        yield line


_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
# The first bytes of files that are no CSV, and the fault that names them.
_BEGINNINGS = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "old_excel",
    b"\x09\x08\x10\x00": "old_excel",
    b"\x09\x08\x08\x00": "old_excel",
    b"%PDF-": "pdf",
    b"MIME-Version:": "html",
    b"{\\rtf": "no_spreadsheet",
    b"BEGIN:VCARD": "no_spreadsheet",
    b"\x89PNG\r\n": "no_spreadsheet",
    b"\xff\xd8\xff": "no_spreadsheet",
    b"GIF8": "no_spreadsheet",
    b"Rar!\x1a": "no_spreadsheet",
    b"7z\xbc\xaf": "no_spreadsheet",
    b"\x1f\x8b\x08": "no_spreadsheet",
}
_HTML = re.compile(r"\s*<(!doctype html|!--|html|head|meta|body|table|style|script|center|div|font|br|b|p)\b", re.I)


def _other_format(first: bytes) -> str:
    """Return the fault of a file that is neither CSV nor XLSX, by its beginning; empty for others."""
    for beginning, code in _BEGINNINGS.items():
        if first.startswith(beginning):
            return code
    is_wide = first[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = first[:4096].decode("utf-16" if is_wide else "utf-8-sig", "ignore")
    if "urn:schemas-microsoft-com:office:spreadsheet" in text and text.lstrip().startswith("<?xml"):
        return "xml_excel"
    if _HTML.match(text) or (text.lstrip().startswith("<?xml") and "<html" in text.lower()):
        return "html"
    return "no_spreadsheet" if text.lstrip().startswith("<?xml") else ""
