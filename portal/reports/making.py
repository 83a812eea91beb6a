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
from portal.core.timers import bell, ticking
from portal.core.timers.clock import ClockTime, database_now
from portal.core.timers.pauses import seconds
from portal.core.timers.ticking import Wakeup
from portal.evidence import store
from portal.evidence.models import StoredFile
from portal.reports import kinds, sheets
from portal.reports.content import Cell, Line
from portal.reports.models import Report
from portal.reports.periods import stamped

MAKE = "portal.reports.tasks.make"
MOST_TRIES = 5
#: Lines of each table on a page; the files have them all.
ON_PAGE = 50
_RING_AGAIN = timedelta(minutes=6)


def wake(report: Report) -> None:
    """Have a worker make it once the transaction is through."""
    bell.ring_after_commit(MAKE, report.tenant_id, report.pk)


def make(report_id: int) -> None:
    """Make a report that still waits, and keep it. Two workers at once keep one."""
    waits = Report.objects.filter(pk=report_id, due_at__isnull=False)
    report = waits.select_related("by", "tenant").first()
    if report is None:
        return
    if report.tries >= MOST_TRIES:
        waits.update(due_at=None, trouble="failed")
        return
    waits.update(tries=report.tries + 1, due_at=ClockTime() + _RING_AGAIN)
    try:
        with override(report.language):
            made = _written(report)
    except store.STORE_ERRORS:
        waits.update(trouble="store")
        return
    files = [made["file"], made["pdf"], made["book"]]
    with transaction.atomic():
        if waits.update(due_at=None, trouble="", made_at=ClockTime(), **made):
            for row in files:
                store.keep(row)


def _written(report: Report) -> dict[str, Any]:
    """Write the lines into the store, then from them what is shown and taken along; return what the row is told."""
    from portal.reports import paper  # its library takes a third of a process's start, which few of them need

    with store.Writing() as lines:
        content = kinds.KINDS[report.kind].make(report)
        for number, cells in content.lines:
            lines.write(json.dumps([number, cells], ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    head = content.head
    told = {"tenant": report.tenant.name, "made": _("Made %(at)s") % {"at": stamped(database_now())}}
    with store.Writing("application/json") as file:
        shown = paper.by_sheet(_lines(lines.row), len(head.sheets), ON_PAGE)
        file.write(json.dumps(shown, ensure_ascii=False).encode())
    with store.Writing("application/pdf") as pdf:
        pdf.write(paper.draw(head, _lines(lines.row), **told))
    with store.Writing(XLSX_TYPE) as book, sheets.write(head, _lines(lines.row), **told) as plain:
        shutil.copyfileobj(plain, book, store.PIECE)
    store.delete_soon(StoredFile.objects.filter(pk=lines.row.pk))
    kept = {"file": file.row, "pdf": pdf.row, "book": book.row}
    return {**kept, "head": head.as_json(), "named_since": content.named_since}


def _lines(file: StoredFile) -> Iterator[Line]:
    rest = b""
    for piece in store.read(file):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number, cells = json.loads(line)
            yield number, cells


def shown(report: Report) -> list[tuple[list[Sequence[Cell]], int]]:
    """Return of each table of a report that was made its first lines, and how many more there are.

    Raises store.Unreadable.
    """
    if report.file is None:
        return []
    return [(rows, left) for rows, left in json.loads(b"".join(store.read(report.file)))]


def _due() -> QuerySet[Report]:
    return Report.objects_across_tenants.filter(due_at__lte=ClockTime())


DUE = Wakeup(rows=_due, task=MAKE, mark=lambda: {"due_at": ClockTime() + _RING_AGAIN})


def register() -> None:
    ticking.register("reports", DUE.look, every=seconds(5), queue="bulk", work=DUE.work)
