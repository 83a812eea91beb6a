"""An export of the log: how fast workers write it, how fast it is sent, and the memory that the web process needs."""

import io
import time
import zipfile

from django.http import QueryDict

from bench.figures import Figure
from bench.ground import Ground, say
from bench.logs import laid
from portal.domain.intents.recording import Requester
from portal.domain.jobs.models import Job, JobState
from portal.history import exports
from tenants.scope import tenant_scope
from tests.support.memory import Memory
from tests.support.waiting import until

_PATIENCE = 1800.0
_ROW, _AT_ONCE = b"<row>", 1 << 22


def workbook(ground: Ground) -> list[Figure]:
    """Measure a workbook of the whole large log, from the worker's first record to the last byte sent."""
    ground.furnish_lists()
    large, _small = laid(ground)
    rows = ground.sizes.records
    say(f"{rows:,} records as a workbook")
    started = time.perf_counter()
    with tenant_scope(large):
        asker = Requester(large, ground.user)
        job = exports.start_export(by=asker, query=QueryDict(), kind="xlsx", count=rows, description=["Bench"])
        until(lambda: Job.objects.get(pk=job.pk).state == JobState.DONE, _PATIENCE, saying="the export is written")
    written = time.perf_counter() - started
    memory = Memory(ground.house.web)
    took, body = ground.http().get(f"/t/{large.slug}/logs/exports/{job.pk}/file/")
    grown, sent = memory.growth / 1024, _rows(body)
    if sent < rows * 0.999:  # each month has a whole number of them
        raise RuntimeError(f"{sent:,} of {rows:,} records are in the file")
    again = ground.sizes.again("export", records=rows)
    size = f"{len(body) / 1e6:,.0f} MB"
    return [
        Figure(f"export of {rows:,} records, written by workers", f"{written:.0f} s", f"{sent / written:,.0f}/s",
               command=again),
        Figure(f"export of {rows:,} records, sent as XLSX", f"{took:.1f} s", f"{size}, {sent / took:,.0f}/s",
               command=again),
        Figure(f"export of {rows:,} records, the web's memory grows by", f"{grown:.0f} MB", "", grown, ("<=", 100),
               again),
    ]  # fmt: skip


def _rows(workbook: bytes) -> int:
    """Return the number of rows in the sheets without their headings, counted as a stream."""
    count, overlap = 0, b""
    with zipfile.ZipFile(io.BytesIO(workbook)) as book:
        for name in book.namelist():
            if not name.startswith("xl/worksheets/"):
                continue
            with book.open(name) as sheet:
                while piece := sheet.read(_AT_ONCE):
                    count += (overlap + piece).count(_ROW)
                    overlap = piece[1 - len(_ROW) :]
    return count
