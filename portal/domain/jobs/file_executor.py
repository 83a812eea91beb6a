"""Executor of a job that writes a file, in parts: each is added in one transaction with its end position.

A part is read and stored before the job is locked, and added only if the part before it is still the last. So a worker
that ends or is replaced neither loses nor doubles a row, and the store deletes a part that was not added. A worker
writes for some seconds, then other jobs get their turn. The area joins the parts into a file. They are deleted after
RETENTION, also those of a stopped job.
"""

import time
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Value

from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime
from portal.domain.jobs import kinds, running
from portal.domain.jobs.models import ExportPart, Job, JobState, NextStep
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)
RETENTION = timedelta(days=7)
# The `problem` of a job while the store does not respond, and the pause before the next try.
STORE_PROBLEM, _STORE_RETRY = {"word": "store"}, timedelta(seconds=30)
_MAX_SECONDS = 10.0
_COMPRESSION_LEVEL = 3  # of zlib: the next levels take twice the time to save another tenth
_BATCH = 20


def wait(_job: Job) -> timedelta | None:
    """Return None: nothing is waited for."""
    return None


def send(job: Job) -> NextStep:
    """Return whether there is more to write."""
    return NextStep.NOTHING if parts_of(job).filter(last=True).exists() else NextStep.WORK


def work(job_id: int) -> None:
    """Write parts for some seconds. If the store does not respond, the job is due again later."""
    job, until = Job.objects.select_related("tenant", "by").get(pk=job_id), time.monotonic() + _MAX_SECONDS
    runs = Job.objects.filter(pk=job_id, state=JobState.RUNNING)
    while True:
        try:
            part = _write_next(job)
        except store.STORE_ERRORS as error:
            log.warning("job_file_not_written", error=type(error).__name__)
            runs.update(due_at=ClockTime() + _STORE_RETRY, problem=STORE_PROBLEM)
            return
        if part is None:  # another worker writes, or the job was stopped
            return
        if part.last or time.monotonic() > until:
            break
    runs.update(due_at=ClockTime())
    running.wake_after_commit(job)


def parts_of(job: Job) -> QuerySet[ExportPart]:
    """Return the parts of a job's file in order."""
    return ExportPart.objects.filter(job=job).order_by("number")


def part_contents(job: Job) -> Iterator[bytes]:
    """Yield the contents of the parts in order. Raises FileUnreadable if they have been deleted."""
    parts = list(parts_of(job).select_related("file"))
    if not parts:
        raise store.FileUnreadable(f"job {job.pk}")
    for part in parts:
        yield zlib.decompress(b"".join(store.read_file(part.file)))


def deletion_due_at(job: Job) -> datetime | None:
    """Return when the file will be deleted; None while the job runs."""
    return job.finished_at + RETENTION if job.finished_at is not None else None


def _write_next(job: Job) -> ExportPart | None:
    """Write the next part and return it. None: there is none, another worker wrote it, or the job was stopped."""
    read = kinds.kind_of(job).read_piece
    before = parts_of(job).last()
    if read is None or (before is not None and before.last):
        return None
    piece = read(job, before.place if before is not None else None)
    number = before.number + 1 if before is not None else 1
    with store.FileWriter() as file:
        file.write(zlib.compress(piece.body, _COMPRESSION_LEVEL))
    with transaction.atomic():
        alive = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, stop_requested=False)
        if not alive.select_for_update(of=("self",), no_key=True) or _is_written(job, number):
            store.schedule_deletion(StoredFile.objects.filter(pk=file.row.pk))
            return None
        part = ExportPart.objects.create(
            job=job,
            number=number,
            rows=piece.rows,
            size=len(piece.body),
            place=piece.end_position,
            last=piece.is_last,
            file=file.row,
        )
        store.retain(file.row)
        Job.objects.filter(pk=job.pk).update(checked_rows=F("checked_rows") + piece.rows, problem={})
    return part


def _is_written(job: Job, number: int) -> bool:
    return parts_of(job).filter(number=number).exists()


def expired_jobs() -> QuerySet[Job]:
    """Return the jobs whose file's retention has ended, oldest first."""
    has_parts = Exists(ExportPart.objects_across_tenants.filter(job=OuterRef("pk")))
    ended = Job.objects_across_tenants.filter(state__in=[JobState.DONE, JobState.STOPPED], erased_at=None)
    return ended.filter(has_parts, finished_at__lte=ClockTime() - RETENTION).order_by(
        F("finished_at") + Value(RETENTION)
    )


def delete_expired() -> int:
    """Delete files whose retention has ended, with their jobs' options. Return how many."""
    deleted, may_go_on = [_delete_some()], timer_registry.start_time_limit()
    while deleted[-1] == _BATCH and may_go_on():
        deleted.append(_delete_some())
    return sum(deleted)


def _delete_some() -> int:
    with across_tenants("files of all tenants are deleted together"), transaction.atomic():
        held = expired_jobs().select_for_update(of=("self",), skip_locked=True)
        old = list(held.values_list("pk", flat=True)[:_BATCH])
        parts = ExportPart.objects_across_tenants.filter(job__in=old)
        files = list(parts.values_list("file", flat=True))
        parts.delete()
        store.schedule_deletion(StoredFile.objects_across_tenants.filter(pk__in=files))
        Job.objects_across_tenants.filter(pk__in=old).update(erased_at=ClockTime(), options={})
    return len(old)
