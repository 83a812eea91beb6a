"""Read members one at a time before their rows are sent, for data that lists do not show, above all their rights.

It runs outside of transactions, under a lease on the job, and may end at any moment: results are stored in the mirror,
and the row is marked as read. Rows are sent before their readings are too old, even if API calls are short, so that
every job ends.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from time import monotonic

import structlog
from django.db import transaction
from django.db.models import F, Q

from accessapi import errors
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.task_queue import enqueue
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.jobs import kinds, wakeups
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import Halt, JobState, RowState
from portal.domain.jobs.wakeups import stop_job
from tenants.connections.service_clients import current_connection
from tenants.models import Connection
from tenants.permission_conditions import holds_permission

log = structlog.get_logger(__name__)

# A row is sent only if its member was read within this time. Rows that were read wait at most MAX_HOLD.
MAX_READ_AGE = timedelta(minutes=15)
MAX_HOLD = timedelta(minutes=5)
# One run of a worker, the lease (longer than one call), and the pause after a fault.
RUN_SECONDS = 30
LEASE = timedelta(seconds=45)
PAUSE_AFTER_FAULT = timedelta(seconds=30)
# How often a member that cannot be read is tried, after all others. After this many faults in a row, the service itself
# is taken to be faulty.
MAX_FAULTS, MAX_FAULTS_IN_A_ROW = 20, 2


def ready_rows(job: Job, rows: list[Row]) -> list[Row] | None:
    """Return the rows that can be sent, by the mirror's data; None: others must be read before anything is sent."""
    if kinds.kind_of(job).rows_to_read is None or not rows:
        return rows
    now = database_now()
    unread = _rows_to_read(job, rows, now)
    ready = [row for row in rows if row.pk not in unread]
    blocked = job.blocked_until is not None and job.blocked_until > now
    held = job.reading_since is not None and job.reading_since < now - MAX_HOLD
    return ready if not unread or blocked or (ready and held) else None


def _rows_to_read(job: Job, rows: Sequence[Row], now: datetime) -> set[int]:
    ours = kinds.kind_of(job).rows_to_read
    asked = [row for row in rows if row.read_at is None or row.read_at < now - MAX_READ_AGE]
    if ours is None or not asked:
        return set()
    # After a lost answer, the mirror may be older than the service's data.
    again = {row.pk for row in asked if row.attempts}
    return again | ours(job, [row for row in asked if not row.attempts])


def read_members(job_id: int) -> None:
    """Read members for a while. Afterwards the job is due at once, or when there are API calls again."""
    job = _take_lease(job_id)
    if job is None:
        return
    connection = current_connection()
    blocked = None
    if not connection.is_connected:
        blocked = database_now() + PAUSE_AFTER_FAULT
    else:
        waiting = Row.objects.filter(job=job, state=RowState.PENDING).exclude(member_id="")
        rows = list(waiting.order_by("action", "line")[: job.part_rows])
        unread = _rows_to_read(job, rows, database_now())
        wanted = sorted((row for row in rows if row.pk in unread), key=lambda row: row.faults)
        blocked = _read_rows(job, connection, wanted)
    mine = Job.objects.filter(pk=job.pk, lease=job.lease)
    if mine.update(lease=None, reading_until=None, blocked_until=blocked):
        Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(due_at=ClockTime())
        enqueue(wakeups.ADVANCE_TASK, [(job.tenant_id, job.pk)], expires=wakeups.EXPIRES_SECONDS)


def _take_lease(job_id: int) -> Job | None:
    token = uuid.uuid4()
    free = Q(reading_until__isnull=True) | Q(reading_until__lt=ClockTime())
    job = Job.objects.filter(pk=job_id, state=JobState.RUNNING).first()
    if job is None:
        return None
    may = holds_permission(job.permission)
    taken = Job.objects.filter(free, may, pk=job_id, state=JobState.RUNNING, stop_asked=False).update(
        lease=token, reading_until=ClockTime() + LEASE
    )
    if not taken:
        return None
    Job.objects.filter(pk=job_id, reading_since__isnull=True).update(reading_since=ClockTime())
    job.refresh_from_db()
    return job


def _read_rows(job: Job, connection: Connection, rows: Sequence[Row]) -> datetime | None:
    """Read one member per row until the time is up. Return until when to pause, or None."""
    end, in_a_row = monotonic() + RUN_SECONDS, 0
    resting: datetime | None = None
    for row in rows:
        if monotonic() >= end or not _renew_lease(job):
            return None
        try:
            kinds.kind_of(job).read_member(connection, row.member_id)
        except BudgetExhausted as exhausted:
            return exhausted.check_again_at
        except errors.NotFound:
            Row.objects.filter(pk=row.pk, state=RowState.PENDING).update(
                state=RowState.FAILED, problems=[["", "gone", {}]]
            )
        except (errors.Unauthorised, errors.Forbidden):
            with transaction.atomic():
                held = Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
                stop_job(held, Halt.CONNECTION)
            return None
        except errors.ServiceError as error:
            log.warning("bulk_read_failed", job_id=job.pk, error=type(error).__name__)
            if not _is_member_fault(error):
                return database_now() + PAUSE_AFTER_FAULT
            _count_fault(row)
            in_a_row, resting = in_a_row + 1, database_now() + PAUSE_AFTER_FAULT
            if in_a_row >= MAX_FAULTS_IN_A_ROW:
                return resting
            continue
        else:
            Row.objects.filter(pk=row.pk).update(read_at=ClockTime())
        in_a_row = 0
        Job.objects.filter(pk=job.pk).update(reads=F("reads") + 1)
    return resting


def _is_member_fault(error: errors.ServiceError) -> bool:
    """Return whether the fault may be about this member alone, and not about the whole service."""
    unsent = isinstance(error, errors.NotSent) and not isinstance(error, errors.InvalidRequest)
    return not unsent and not isinstance(error, errors.RateLimited)


def _count_fault(row: Row) -> None:
    """Count a failed reading. After too many the row fails, so that it does not block the other rows for ever."""
    waiting = Row.objects.filter(pk=row.pk, state=RowState.PENDING)
    waiting.update(faults=F("faults") + 1)
    waiting.filter(faults__gte=MAX_FAULTS).update(state=RowState.FAILED, problems=[["", "unreadable", {}]])


def _renew_lease(job: Job) -> bool:
    """Extend the lease. Return False when another worker has the job, or it was stopped."""
    mine = Job.objects.filter(pk=job.pk, lease=job.lease, state=JobState.RUNNING, stop_asked=False)
    return bool(mine.update(reading_until=ClockTime() + LEASE, due_at=ClockTime() + LEASE))
