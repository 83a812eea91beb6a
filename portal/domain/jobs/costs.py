"""Costs of a job in API calls and minutes: shown before it starts, and for what remains while it runs."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q

from accessapi import limits
from portal.domain.budget.priorities import Priority
from portal.domain.budget.quota import Quota, estimate_minutes, estimate_minutes_from
from portal.domain.jobs import kinds, queries
from portal.domain.jobs.models import Action, Job, Part, PartState, Row, RowState
from tenants.models import Connection

# Used until the tenant has its own measurements: polls per bulk request, and the service's seconds per member.
DEFAULT_POLLS = 4.0
SECONDS_PER_MEMBER = 0.02
SECONDS_PER_READ = 0.3


@dataclass(frozen=True)
class Cost:
    """API calls to submit requests, poll them and read members first, and the minutes for all within the API limit."""

    submits: int
    polls: int
    minutes: int | None
    reads: int = 0

    @property
    def calls(self) -> int:
        return self.submits + self.polls + self.reads


def cost_of_rows(
    connection: Connection, *, creates: int = 0, updates: int = 0, deletes: int = 0, reads: int = 0
) -> Cost:
    """Return the cost of sending this many rows after this many reads. `minutes` is None without a connection."""
    submits = sum(-(-count // limits.BULK_MEMBERS_MAX) for count in (creates, updates, deletes))
    polls_each, seconds_each = measured_pace()
    polls = round(submits * polls_each)
    if not connection.is_connected:
        return Cost(submits, polls, None, reads)
    waiting = estimate_minutes(submits + polls + reads, connection, Priority.JOBS)
    working = -(-int((creates + updates + deletes) * seconds_each + submits * 2 + reads * SECONDS_PER_READ) // 60)
    return Cost(submits, polls, max(waiting, working), reads)


def cost_of_single_rows(rows: int, connection: Connection) -> Cost:
    """Return the cost of submitting this many rows one by one. Nothing is polled."""
    waiting = estimate_minutes(rows, connection, Priority.JOBS) if connection.is_connected else None
    return Cost(rows, 0, waiting if waiting is None else max(waiting, 1 if rows else 0))


def cost_of_reads(reads: int, hour: Quota | None) -> Cost:
    """Return the cost of single reads alone, for a page that has loaded the hour's quota (None: no connection)."""
    if hour is None:
        return Cost(0, 0, None, reads)
    return Cost(
        0, 0, max(estimate_minutes_from(hour, reads, Priority.JOBS), -(-int(reads * SECONDS_PER_READ) // 60)), reads
    )


def measured_pace() -> tuple[float, float]:
    """Return polls per request and seconds per member, measured on the tenant's last requests."""
    closed = Part.objects.filter(state=PartState.CLOSED, intent__finished_at__isnull=False, rows__gte=1)
    recent = list(
        closed.order_by("-id").values_list("rows", "intent__polls", "intent__accepted_at", "intent__finished_at")[:10]
    )
    timed = [(rows, polls, end - begin) for rows, polls, begin, end in recent if begin and end]
    if not timed:
        return DEFAULT_POLLS, SECONDS_PER_MEMBER
    polls = sum(polls for _rows, polls, _took in timed) / len(timed)
    took = sum((took for _rows, _polls, took in timed), timedelta()).total_seconds()
    return max(polls, 1.0), took / sum(rows for rows, _polls, _took in timed)


def remaining_cost(job: Job, connection: Connection) -> Cost:
    """Return the cost of the rows that still wait."""
    if kinds.kind_of(job).submit_row is not None:
        return cost_of_single_rows(
            Row.objects.filter(job=job, state__in=[RowState.PENDING, RowState.SENT]).count(), connection
        )
    waiting = Row.objects.filter(job=job, state=RowState.PENDING).aggregate(
        creates=Count("pk", filter=Q(action=Action.CREATE)),
        updates=Count("pk", filter=Q(action=Action.UPDATE)),
        deletes=Count("pk", filter=Q(action=Action.DELETE)),
    )
    sent = waiting if kinds.kind_of(job).has_requests else {}
    return cost_of_rows(connection, **sent, reads=count_needed_reads(job))


def count_needed_reads(job: Job) -> int:
    """Count the waiting rows whose member must be read singly first, as the mirror is now.

    Exact for the first 1,000 rows, estimated in proportion for the others.
    """
    unread = kinds.kind_of(job).rows_to_read
    if unread is None:
        return 0
    waiting = Row.objects.filter(job=job, state__in=[RowState.CHECKED, RowState.PENDING], read_at__isnull=True)
    sample = list(waiting.exclude(member_id="").order_by("line")[: limits.BULK_MEMBERS_MAX])
    total = waiting.count() if len(sample) == limits.BULK_MEMBERS_MAX else len(sample)
    return round(len(unread(job, sample)) * total / len(sample)) if sample else 0


def count_calls_made(job: Job) -> int:
    """Return the calls made for the job so far: its requests, their polls, and single reads."""
    return job.reads + sum(map(sum, queries.intents_of(job).values_list("attempts", "polls")))
