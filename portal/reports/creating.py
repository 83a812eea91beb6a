"""Create reports in a worker: write the lines encrypted to the store, then the page's lines, the PDF and the workbook.

Opening or downloading a report needs no more work. A report is never created again, so everyone sees what was sent.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import override

from portal.base.files.writing import XLSX_TYPE
from portal.base.timers import task_queue
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import TaskWakeup
from portal.evidence import store
from portal.evidence.models import StoredFile
from portal.reports import kinds
from portal.reports.content import CellValue, TableLine
from portal.reports.models import Report
from portal.reports.periods import moment_text

CREATE_TASK = "portal.reports.tasks.make"
MAX_TRIES = 5
# The most lines of each table on a page; the files have all lines.
MAX_PAGE_LINES = 50
_RETRY_AFTER = timedelta(minutes=6)


def wake_for_report(report: Report) -> None:
    """Wake a worker for the report after the transaction."""
    task_queue.enqueue_after_commit(CREATE_TASK, report.tenant_id, report.pk)


def create(report_id: int) -> None:
    """Create a report that is due, and save it. If two workers run at once, only one result is saved."""
    waits = Report.objects.filter(pk=report_id, due_at__isnull=False)
    report = waits.select_related("by", "tenant").first()
    if report is None:
        return
    if report.tries >= MAX_TRIES:
        waits.update(due_at=None, trouble="failed")
        return
    waits.update(tries=report.tries + 1, due_at=ClockTime() + _RETRY_AFTER)
    try:
        with override(report.language):
            made = _write_files(report)
    except store.STORE_ERRORS:
        waits.update(trouble="store")
        return
    files = [made["file"], made["pdf"], made["book"]]
    with transaction.atomic():
        if waits.update(due_at=None, trouble="", made_at=ClockTime(), **made):
            for row in files:
                store.retain(row)


def _write_files(report: Report) -> dict[str, Any]:
    """Write the lines to the store, then the page's lines and the files from them. Return the new values of the row."""
    from portal.reports import pdf_writing, workbook_writing  # their import is slow, and few processes need it

    with store.FileWriter() as lines:
        content = kinds.KINDS[report.kind].create_content(report)
        for number, cells in content.lines:
            lines.write(json.dumps([number, cells], ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    head = content.head
    told = {"tenant": report.tenant.name, "made": _("Made %(at)s") % {"at": moment_text(database_now())}}
    with store.FileWriter("application/json") as file:
        shown = pdf_writing.lines_by_table(_read_lines(lines.row), len(head.sheets), MAX_PAGE_LINES)
        file.write(json.dumps(shown, ensure_ascii=False).encode())
    with store.FileWriter("application/pdf") as pdf:
        pdf.write(pdf_writing.draw_pdf(head, _read_lines(lines.row), **told))
    with (
        store.FileWriter(XLSX_TYPE) as book,
        workbook_writing.write_workbook(head, _read_lines(lines.row), **told) as plain,
    ):
        shutil.copyfileobj(plain, book, store.PIECE)
    store.schedule_deletion(StoredFile.objects.filter(pk=lines.row.pk))
    kept = {"file": file.row, "pdf": pdf.row, "book": book.row}
    return {**kept, "head": head.to_json(), "named_since": content.named_since}


def _read_lines(file: StoredFile) -> Iterator[TableLine]:
    rest = b""
    for piece in store.read_file(file):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number, cells = json.loads(line)
            yield number, cells


def load_lines(report: Report) -> list[tuple[list[Sequence[CellValue]], int]]:
    """Return the first lines of each table of a created report, and how many more there are.

    Raises store.FileUnreadable.
    """
    if report.file is None:
        return []
    return [(rows, left) for rows, left in json.loads(b"".join(store.read_file(report.file)))]


def _due_reports() -> QuerySet[Report]:
    return Report.objects_across_tenants.filter(due_at__lte=ClockTime())


REPORTS_DUE = TaskWakeup(
    rows=_due_reports, task=CREATE_TASK, claim_values=lambda: {"due_at": ClockTime() + _RETRY_AFTER}
)
