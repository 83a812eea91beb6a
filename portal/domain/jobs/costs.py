"""Costs of a job in API calls and time: shown before it starts, and for what remains while it runs."""

from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from django.db.models import Count, Q

from accessapi import limits
from portal.domain.budget.priorities import Priority
from portal.domain.budget.quota import Quota, quota_of
from portal.domain.jobs import kinds, queries
from portal.domain.jobs.models import Action, Job, JobState, Part, PartState, Row, RowState
from tenants.models import Connection

# A single read, or a row that is sent alone.
SECONDS_PER_CALL = 0.3
# Most of the time of a request with fewer members is that of the request itself.
_MIN_MEMBERS_FOR_PACE = 100
# How many requests and rows are measured. A longer gap between two rows is a pause of the job.
_MEASURED_PARTS, _MEASURED_ROWS, _LONGEST_GAP = 20, 200, 10.0


@dataclass(frozen=True)
class Pace:
    """The polls and seconds of each bulk request, and the seconds of each of its members; guessed until measured."""

    polls: float = 2.0
    request_seconds: float = 2.0
    member_seconds: float = 0.02


@dataclass(frozen=True)
class Cost:
    """API calls to submit requests, poll them and read members first, and about how many seconds all take.

    `seconds` includes waiting for API calls. It is None without a connection.
    """

    submits: int
    polls: int
    reads: int
    seconds: int | None

    @property
    def calls(self) -> int:
        return self.submits + self.polls + self.reads


def cost_of_rows(
    connection: Connection, *, creates: int = 0, updates: int = 0, deletes: int = 0, singles: int = 0, reads: int = 0
) -> Cost:
    """Return the cost of sending this many rows in bulk, and `singles` one by one, after this many reads."""
    hour = quota_of(connection) if connection.is_connected else None
    return _estimate(hour, (creates, updates, deletes), singles, reads)


def cost_of_reads(reads: int, hour: Quota | None) -> Cost:
    """Return the cost of single reads alone, for a page that has loaded the hour's quota (None: no connection)."""
    return _estimate(hour, (), 0, reads)


def _estimate(hour: Quota | None, bulk: tuple[int, ...], singles: int, reads: int) -> Cost:
    requests = sum(-(-count // limits.BULK_MEMBERS_MAX) for count in bulk)
    pace = measured_pace() if requests else Pace()
    polls = round(requests * pace.polls)
    if hour is None:
        return Cost(requests + singles, polls, reads, None)
    working = requests * pace.request_seconds + sum(bulk) * pace.member_seconds + reads * SECONDS_PER_CALL
    working += singles * _seconds_per_single_row() if singles else 0
    waiting = hour.general.reading.seconds_until_room(requests + singles + polls + reads, Priority.JOBS)
    return Cost(requests + singles, polls, reads, round(working + waiting))


def measured_pace() -> Pace:
    """Return the pace of the tenant's last bulk requests.

    The time of a request is measured on small ones, that of a member on large ones. Dividing the time of a small one
    by its members would take the time of the request for that of a member.
    """
    closed = Part.objects.filter(state=PartState.CLOSED, rows__gte=1, intent__sent_at__isnull=False)
    ended = closed.filter(intent__accepted_at__isnull=False, intent__finished_at__isnull=False).order_by("-id")
    columns = ("rows", "intent__polls", "intent__sent_at", "intent__finished_at")
    recent = list(ended.values_list(*columns)[:_MEASURED_PARTS])
    if not recent:
        return Pace()
    timed = [(rows, (end - begin).total_seconds()) for rows, _polls, begin, end in recent]
    small = [took - rows * Pace.member_seconds for rows, took in timed if rows < _MIN_MEMBERS_FOR_PACE]
    of_request = max(median(small), 0.0) if small else Pace.request_seconds
    large = [(took - of_request) / rows for rows, took in timed if rows >= _MIN_MEMBERS_FOR_PACE]
    return Pace(
        polls=max(fmean(polls for _rows, polls, _begin, _end in recent), 1.0),
        request_seconds=of_request,
        member_seconds=max(median(large), 0.0) if large else Pace.member_seconds,
    )


def _seconds_per_single_row() -> float:
    """Return the seconds between two rows of the last job that submitted rows one by one, without its pauses."""
    ended = Job.objects.filter(kind__in=kinds.kinds_of_single_rows(), state=JobState.DONE)
    sent = Row.objects.filter(job=ended.order_by("-id").first(), intent__sent_at__isnull=False).order_by("line")
    times = sent.values_list("intent__sent_at", flat=True)[:_MEASURED_ROWS]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(sorted(filter(None, times)))]
    usual = [gap for gap in gaps if gap <= _LONGEST_GAP]
    return fmean(usual) if usual else SECONDS_PER_CALL


def remaining_cost(job: Job, connection: Connection) -> Cost:
    """Return the cost of the rows that still wait."""
    if kinds.kind_of(job).submit_row is not None:
        unsettled = Row.objects.filter(job=job, state__in=[RowState.PENDING, RowState.SENT])
        return cost_of_rows(connection, singles=unsettled.count())
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
