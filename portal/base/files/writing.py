"""Send rows as a CSV or XLSX file: audited, and safe from formulas.

A spreadsheet program evaluates CSV cells that begin with = + - @ (or a control character before them). In files of the
portal such a cell gets an apostrophe in front. It is removed when the portal reads its own file, recognised by the
column of reasons or by the headings of an export, also after a spreadsheet program has saved it. Other files are never
changed. In XLSX, text is never evaluated.
"""

import csv
import io
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from django.db import transaction
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from portal.base.files.cells import CellValue, cell_text
from portal.base.files.workbooks import XLSX_TYPE, Sheet, render_parts, write_workbook
from tenants import audit
from tenants.access import TenantRequest
from tenants.reauthentication import require_proof_for_file
from tenants.sentences import Sentence

REASON_HEADINGS = {"en": "Reason (left out when imported)", "ja": "理由（取り込み対象外）"}
# Downloaded files keep their heading, so earlier headings are still recognised.
_ALL_REASON_HEADINGS = {*REASON_HEADINGS.values(), "理由（取込対象外）"}
# Only the portal's exports of people have these headings together.
_EXPORT_HEADINGS = (
    {"Member ID", "Credentials", "End of use"},
    {"会員ID", "認証手段", "利用終了"},
    {"Member ID", "Access to this area", "Access"},
    {"会員ID", "このエリアの権限", "入室"},
    {"Member ID", "Before", "After"},
    {"会員ID", "変更前", "変更後"},
    {"Guest", "Code valid until", "State"},
    {"ゲスト", "コードの期限", "状態"},
    {"Member ID", "Credentials", "Status"},
    {"会員ID", "認証手段", "利用状態"},
    {"Member ID", "Credentials", "Validity"},
    {"会員ID", "認証手段", "有効性"},
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FORMULA_START = re.compile(r"'*[=+\-@\t\r\n\v\f＝＋－＠]")
_ROWS_PER_PART = 500


def is_reason_heading(heading: str) -> bool:
    """Return True if a heading is the portal's heading of reasons, in any language."""
    return heading.strip() in _ALL_REASON_HEADINGS


def is_portal_file(headings: list[str]) -> bool:
    """Return True if the portal wrote a file with these headings."""
    return any(map(is_reason_heading, headings)) or is_portal_list(headings)


def is_portal_list(headings: Collection[str]) -> bool:
    """Return True if these headings are those of an exported list of people."""
    found = {heading.strip() for heading in headings}
    return any(known <= found for known in _EXPORT_HEADINGS)


def escape_formula(cell: str) -> str:
    """Return a cell that no spreadsheet program evaluates as a formula."""
    return "'" + cell if _FORMULA_START.match(cell) else cell


def unescape_formula(cell: str) -> str:
    """Return the original cell of `escape_formula`."""
    return cell[1:] if cell[:1] == "'" and _FORMULA_START.match(cell, 1) else cell


def render_csv(lines: Iterable[Sequence[CellValue]]) -> Iterator[bytes]:
    """Yield CSV in UTF-8 with the mark that Excel needs for Japanese. Cells are quoted and safe from formulas."""
    yield _BYTE_ORDER_MARK
    yield from render_csv_lines(lines)


def render_csv_lines(lines: Iterable[Sequence[CellValue]], *, has_seconds: bool = False) -> Iterator[bytes]:
    """Yield CSV without the mark: a part of a file that is put together later. `has_seconds`: see `cell_text`."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    for number, cells in enumerate(lines, start=1):
        writer.writerow(
            [
                escape_formula(cell) if isinstance(cell, str) else cell_text(cell, has_seconds=has_seconds)
                for cell in cells
            ]
        )
        if number % _ROWS_PER_PART == 0:
            yield _take_text(buffer)
    yield _take_text(buffer)


def _take_text(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    return text


_TYPES = {"csv": "text/csv; charset=utf-8", "xlsx": XLSX_TYPE}
KINDS = tuple(_TYPES)


def send_file(
    request: TenantRequest,
    lines: Iterable[Sequence[CellValue]],
    *,
    kind: str,
    name: str,
    title: str,
    record: Callable[[], object] | None,
    notes: Iterable[str] = (),
) -> HttpResponseBase:
    """Return a response with the lines as a file called `name` (without its ending). Raises Http404 for unknown kinds.

    The first line has the headings. `notes` are sentences below the lines. `record` writes the audit row and is called
    before anything is read. It is None for files without personal data (a template). With it, the person must have
    confirmed their identity lately: raises Unproven before anything is recorded.
    """
    if kind not in KINDS:
        raise Http404
    if record is not None:
        require_proof_for_file(request)
        record()
    if kind == "xlsx":
        return send_streamed_file(render_workbook(lines, title, notes), kind=kind, name=name)
    return send_streamed_file(render_csv(itertools.chain(lines, ([note] for note in notes))), kind=kind, name=name)


def render_workbook(lines: Iterable[Sequence[CellValue]], title: str, notes: Iterable[str] = ()) -> Iterator[bytes]:
    """Yield a workbook of one table, whose first line has the headings."""
    rows = iter(lines)
    heading = [str(cell) for cell in next(rows, [])]
    if is_portal_file(heading):
        rows = ([_keep_apostrophe(cell) if isinstance(cell, str) else cell for cell in cells] for cells in rows)
    yield from write_workbook([Sheet(title, heading, render_parts(rows), notes)])


def _keep_apostrophe(cell: str) -> str:
    """Return a text whose own apostrophe remains when the portal reads its file."""
    return escape_formula(cell) if cell[:1] == "'" else cell


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
