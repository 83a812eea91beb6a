"""Executor of a job that writes a file, in parts: each is stored in one transaction with its end position.

A part is read before the job is locked, and stored only if the part before it is still the last. So a worker that ends
or is replaced neither loses nor doubles a row. A worker writes for some seconds, then other jobs get their turn. The
area joins the parts into a file. They are deleted after RETENTION, also those of a stopped job.
"""

import time
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Value

from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime
from portal.domain.jobs import kinds, running
from portal.domain.jobs.models import ExportPart, Job, JobState, NextStep
from tenants.scope import across_tenants

RETENTION = timedelta(days=7)
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
    """Write parts for some seconds."""
    job, until = Job.objects.select_related("tenant", "by").get(pk=job_id), time.monotonic() + _MAX_SECONDS
    while True:
        part = _write_next(job)
        if part is None:  # another worker writes, or the job was stopped
            return
        if part.last or time.monotonic() > until:
            break
    Job.objects.filter(pk=job_id, state=JobState.RUNNING).update(due_at=ClockTime())
    running.wake_after_commit(job)


def parts_of(job: Job) -> QuerySet[ExportPart]:
    """Return the parts of a job's file in order, without their bodies."""
    return ExportPart.objects.filter(job=job).order_by("number").defer("body")


def part_contents(job: Job) -> Iterator[bytes]:
    """Yield the contents of the parts in order. Raises LookupError if one was deleted: the file would be incomplete."""
    for number in range(1, parts_of(job).count() + 1):
        part = ExportPart.objects.filter(job=job, number=number).first()
        if part is None:
            raise LookupError(f"part {number} of job {job.pk} was deleted meanwhile")
        yield zlib.decompress(part.body)


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
    with transaction.atomic():
        alive = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, stop_asked=False)
        if not alive.select_for_update(of=("self",), no_key=True) or _is_written(job, number):
            return None
        part = ExportPart.objects.create(
            job=job,
            number=number,
            rows=piece.rows,
            size=len(piece.body),
            place=piece.end_position,
            last=piece.is_last,
            body=zlib.compress(piece.body, _COMPRESSION_LEVEL),
        )
        Job.objects.filter(pk=job.pk).update(looked_at=F("looked_at") + piece.rows)
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
        ExportPart.objects_across_tenants.filter(job__in=old).delete()
        Job.objects_across_tenants.filter(pk__in=old).update(erased_at=ClockTime(), options={})
    return len(old)
