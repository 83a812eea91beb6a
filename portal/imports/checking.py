"""Check a file row by row: what each row does, or why it is refused. Nothing is sent.

Rows are read in the same way for all kinds of data (`row_reading.py`). Each kind then checks a batch of them
(`sheet_kinds.RowChecker`).
"""

import itertools
import uuid
from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction

from portal.base.files import file_limits
from portal.base.files.file_limits import FileFault
from portal.base.files.reading import Line
from portal.base.timers.clock import ClockTime
from portal.domain.jobs.models import Job, JobState, Row, insert_rows, refuse_lines
from portal.imports import columns, lists, sheet_kinds
from portal.imports.models import Sheet
from portal.imports.row_reading import RowReader

LEASE_SECONDS = 60


class CheckTakenOver(Exception):
    """Raised when another worker has taken over the check; this worker then writes nothing more."""


def check(job_id: int) -> None:
    """Check an import whose columns are chosen. If a worker dies, another one starts again from the first row."""
    job = _claim(job_id)
    if job is None:
        return
    try:
        _delete_rows(job)
        _check_rows(job)
    except FileFault as fault:
        _refuse_file(job, fault)
    except CheckTakenOver:
        return


def _claim(job_id: int) -> Job | None:
    token = uuid.uuid4()
    due = Job.objects.filter(pk=job_id, state=JobState.MAPPED, due_at__lte=ClockTime())
    if not due.update(lease=token, due_at=ClockTime() + timedelta(seconds=LEASE_SECONDS)):
        return None
    return Job.objects.select_related("sheet__file").get(pk=job_id, lease=token)


def _extend_lease(job: Job, **values: object) -> None:
    """Extend the lease and write `values`. Raises CheckTakenOver."""
    leased = Job.objects.filter(pk=job.pk, state=JobState.MAPPED, lease=job.lease)
    if not leased.update(**{"due_at": ClockTime() + timedelta(seconds=LEASE_SECONDS), **values}):
        raise CheckTakenOver


def _delete_rows(job: Job) -> None:
    with transaction.atomic():
        _extend_lease(job, checked_rows=0)
        Row.objects.filter(job=job).delete()


def _check_rows(job: Job) -> None:
    kind, done = sheet_kinds.kind_of(job), 0
    reader, checker, lines = row_reader(job), kind.checker(job), _lines(job)
    while batch := list(itertools.islice(lines, file_limits.BATCH_ROWS)):
        rows = checker.check([reader.read(line) for line in batch])
        late = checker.take_late_problems()
        done += len(batch)
        with transaction.atomic():
            _extend_lease(job, checked_rows=done)
            insert_rows(job, rows)
            refuse_lines(job, late)
    with transaction.atomic():
        values = checker.finish()
        _extend_lease(job, state=JobState.CHECKED, checked_at=ClockTime(), lease=None, due_at=None, **values)
        Sheet.objects.filter(job=job).update(findings=reader.findings)


def row_reader(job: Job) -> RowReader:
    """Return the reader of the file's rows by the chosen columns."""
    kind, sheet = sheet_kinds.kind_of(job), job.sheet
    parts = columns.name_parts(kind, sheet.columns, sheet.options.get("name_order", ""))
    return RowReader(kind.columns, sheet.columns, parts, kind.name_column)


def _lines(job: Job) -> Iterator[Line]:
    _headings, lines = lists.open_file(job.sheet.file)
    if job.sheet.lines is None:
        return lines
    chosen = set(job.sheet.lines)
    return (each for each in lines if each.number in chosen)


def _refuse_file(job: Job, fault: FileFault) -> None:
    with transaction.atomic():
        problem = {"word": fault.code, "facts": fault.values}
        leased = Job.objects.filter(pk=job.pk, state=JobState.MAPPED, lease=job.lease)
        if leased.update(state=JobState.REFUSED, problem=problem, due_at=None, lease=None, finished_at=ClockTime()):
            Row.objects.filter(job=job).delete()
