"""Send rows as a CSV or XLSX file: audited, and safe from formulas.

A spreadsheet program evaluates CSV cells that begin with = + - @ (or a control character before them). In files of the
portal such a cell gets an apostrophe in front. It is removed when the portal reads its own file, recognised by the
column of reasons or by the headings of the members' export. Other files are never changed.

A workbook of any length is streamed from rows that were rendered before. openpyxl creates everything except the rows,
because it takes minutes for a million of them.
"""

import csv
import io
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

from django.db import transaction
from django.http import FileResponse, Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from tenants import audit
from tenants.access import TenantRequest
from tenants.reauthentication import require_proof_for_file
from tenants.sentences import Sentence

REASON_HEADINGS = {"en": "Reason (left out when imported)", "ja": "理由（取り込み対象外）"}
# Downloaded files keep their heading, so earlier headings are still recognised.
_ALL_REASON_HEADINGS = {*REASON_HEADINGS.values(), "理由（取込対象外）"}
# Only the portal's export of members has these headings together.
MEMBER_EXPORT_HEADINGS = (
    {"Member ID", "Credentials", "Status"},
    {"会員ID", "認証手段", "利用状態"},
    {"Member ID", "Credentials", "Validity"},
    {"会員ID", "認証手段", "有効性"},
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FORMULA_START = re.compile(r"'*[=+\-@\t\r\n\v\f＝＋－＠]")


def is_reason_heading(heading: str) -> bool:
    """Return True if a heading is the portal's heading of reasons, in any language."""
    return heading.strip() in _ALL_REASON_HEADINGS


def is_portal_file(headings: list[str]) -> bool:
    """Return True if the portal wrote a file with these headings."""
    found = {heading.strip() for heading in headings}
    return any(map(is_reason_heading, headings)) or any(known <= found for known in MEMBER_EXPORT_HEADINGS)


def escape_formula(cell: str) -> str:
    """Return a cell that no spreadsheet program evaluates as a formula."""
    return "'" + cell if _FORMULA_START.match(cell) else cell


def unescape_formula(cell: str) -> str:
    """Return the original cell of `escape_formula`."""
    return cell[1:] if cell[:1] == "'" and _FORMULA_START.match(cell, 1) else cell


XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")


def render_csv(lines: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield CSV in UTF-8 with the mark that Excel needs for Japanese. Cells are quoted and safe from formulas."""
    yield _BYTE_ORDER_MARK
    yield from render_csv_lines(lines)


def render_csv_lines(lines: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield CSV without the mark: a part of a file that is put together later."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    for number, cells in enumerate(lines, start=1):
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in cells])
        if number % 500 == 0:
            yield _take_text(buffer)
    yield _take_text(buffer)


def render_xlsx(lines: Iterable[Sequence[Any]], title: str, *, should_escape: bool = True) -> BinaryIO:
    """Return a workbook with all cells except numbers as text: leading zeros remain, and nothing is a formula.

    With `should_escape` formulas still get the apostrophe, in case a person saves the file as CSV.
    """
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title[:31])
    for cells in lines:
        sheet.append(
            [
                text_cell(sheet, escape_formula(cell) if should_escape and isinstance(cell, str) else cell)
                for cell in cells
            ]
        )
    target = tempfile.SpooledTemporaryFile(max_size=4 * 1024 * 1024)  # noqa: SIM115 - the response closes it
    book.save(target)
    target.seek(0)
    return target  # type: ignore[return-value]  # is one but for its base class


def _take_text(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    return text


def text_cell(sheet: Any, value: Any) -> Any:
    """Return a cell of a write-only sheet. Text stays text."""
    if not isinstance(value, str):
        return value
    # Control characters are written as XLSX escapes, because XML cannot contain them.
    cell = WriteOnlyCell(sheet, value=_FORBIDDEN.sub(lambda found: f"_x{ord(found[0]):04X}_", value))
    cell.data_type = "s"
    cell.number_format = "@"
    return cell


_TYPES = {"csv": "text/csv; charset=utf-8", "xlsx": XLSX_TYPE}
KINDS = tuple(_TYPES)


def send_file(
    request: TenantRequest,
    lines: Iterable[Sequence[Any]],
    *,
    kind: str,
    name: str,
    title: str,
    record: Callable[[], object] | None,
    is_for_reimport: bool = False,
) -> HttpResponseBase:
    """Return a response with the lines as a file called `name` (without its ending). Raises Http404 for unknown kinds.

    `record` writes the audit row and is called before anything is read. It is None for files without personal data (a
    template). With it, the person must have confirmed their identity lately: raises Unproven before anything is
    recorded. Numbers stay numbers, everything else is text. A file that `is_for_reimport` has the apostrophe before
    formulas in XLSX too; reading removes it.
    """
    if kind not in KINDS:
        raise Http404
    if record is not None:
        require_proof_for_file(request)
        record()
    if kind == "xlsx":
        book = render_xlsx(lines, title, should_escape=is_for_reimport)
        return FileResponse(book, as_attachment=True, filename=f"{name}.xlsx", content_type=XLSX_TYPE)
    return send_streamed_file(render_csv(lines), kind=kind, name=name)


def send_streamed_file(chunks: Iterable[bytes], *, kind: str, name: str) -> HttpResponseBase:
    """Return a response with a finished or streamed file, from its bytes in chunks."""
    heads = {"Content-Disposition": str(content_disposition_header(True, f"{name}.{kind}"))}
    return StreamingHttpResponse(chunks, content_type=_TYPES[kind], headers=heads)


def download_recorder(
    request: TenantRequest, action: str, *, target: str, summary: Sentence, after: dict[str, Any]
) -> Callable[[], None]:
    """Return a `record` for `send_file` that audits who downloaded what."""

    def record() -> None:
        with transaction.atomic():
            audit.record(
                **request.access.audit_author,
                action=action,
                target=target,
                summary=summary,
                after=after,
            )

    return record


# Per sheet: the format's maximum of rows without the heading; few enough bytes for readers without ZIP64.
MAX_ROWS_PER_SHEET = 1_048_575
MAX_BYTES_PER_SHEET = 1_500_000_000
_MAX_CELL_LENGTH = 32_767  # characters in a cell, by the format
_TEXT_STYLE = 1  # the text style, which the headings have
_END = b"</sheetData>"


def render_rows(lines: Iterable[Sequence[str]]) -> bytes:
    """Return the XML of a sheet's rows. Every cell is text, so that nothing is a formula."""
    return "".join(f"<row>{''.join(map(_cell, cells))}</row>" for cells in lines).encode()


def _cell(text: str) -> str:
    if not text:
        return "<c/>"
    content = _FORBIDDEN.sub(lambda found: f"_x{ord(found[0]):04X}_", text[:_MAX_CELL_LENGTH])
    return f'<c t="inlineStr" s="{_TEXT_STYLE}"><is><t xml:space="preserve">{escape(content)}</t></is></c>'


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
