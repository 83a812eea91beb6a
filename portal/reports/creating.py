"""A worker makes a report: its lines go encrypted into the store one by one, and become what people see and take along.

These are the first lines for a page, the PDF and the workbook: whoever opens or downloads them waits for nobody, and no
page of the site draws them. A report that was kept is never made again: whoever opens it later sees what was sent.
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

from portal.core.files.writing import XLSX_TYPE
from portal.core.timers import task_queue, timer_registry
from portal.core.timers.clock import ClockTime, database_now
from portal.core.timers.scaled_pauses import scaled_seconds
from portal.core.timers.timer_registry import TaskWakeup
from portal.evidence import store
from portal.evidence.models import StoredFile
from portal.reports import kinds, workbook_writing
from portal.reports.content import CellValue, TableLine
from portal.reports.models import Report
from portal.reports.periods import moment_text

CREATE_TASK = "portal.reports.tasks.make"
MAX_TRIES = 5
#: Lines of each table on a page; the files have them all.
MAX_PAGE_LINES = 50
_RETRY_AFTER = timedelta(minutes=6)


def wake(report: Report) -> None:
    """Have a worker make it once the transaction is through."""
    task_queue.enqueue_after_commit(CREATE_TASK, report.tenant_id, report.pk)


def create(report_id: int) -> None:
    """Make a report that still waits, and keep it. Two workers at once keep one."""
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
    """Write the lines into the store, then from them what is shown and taken along; return what the row is told."""
    from portal.reports import pdf_writing  # its library takes a third of a process's start, which few of them need

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
    """Return of each table of a report that was made its first lines, and how many more there are.

    Raises store.Unreadable.
    """
    if report.file is None:
        return []
    return [(rows, left) for rows, left in json.loads(b"".join(store.read_file(report.file)))]


def _due() -> QuerySet[Report]:
    return Report.objects_across_tenants.filter(due_at__lte=ClockTime())


DUE = TaskWakeup(rows=_due, task=CREATE_TASK, claim_values=lambda: {"due_at": ClockTime() + _RETRY_AFTER})


def register() -> None:
    timer_registry.register("reports", DUE.check_due, every=scaled_seconds(5), queue="bulk", due_rows=DUE.querysets)
