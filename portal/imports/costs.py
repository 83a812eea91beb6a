"""What an import costs in calls and minutes: said before it starts, and what is left while it runs."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q

from accessapi import limits
from portal.budget.outlook import minutes_for
from portal.budget.priorities import Priority
from portal.imports.models import Import, ImportPart, ImportRow
from portal.imports.states import Action, PartState, RowState
from tenants.models import Connection

# Until a tenant has a history of its own: polls of a bulk request, and seconds that the service takes for a member.
POLLS = 4.0
SECONDS_A_MEMBER = 0.02


@dataclass(frozen=True)
class Cost:
    """Calls to submit, calls to follow them to their end, and about how many minutes both take within the budget."""

    submits: int
    polls: int
    minutes: int | None

    @property
    def calls(self) -> int:
        return self.submits + self.polls


def of_rows(creates: int, updates: int, connection: Connection | None) -> Cost:
    """The cost of sending so many rows. `minutes` is None without a connection."""
    submits = sum(-(-count // limits.BULK_MEMBERS_MAX) for count in (creates, updates))
    polls_each, seconds_each = pace()
    polls = round(submits * polls_each)
    if connection is None or not connection.is_connected:
        return Cost(submits, polls, None)
    waiting = minutes_for(submits + polls, connection, Priority.JOBS)
    working = -(-int((creates + updates) * seconds_each + submits * 2) // 60)
    return Cost(submits, polls, max(waiting, working))


def pace() -> tuple[float, float]:
    """Polls for a request and seconds for a member, as the tenant's last requests showed."""
    closed = ImportPart.objects.filter(state=PartState.CLOSED, intent__finished_at__isnull=False, rows__gte=1)
    recent = list(
        closed.order_by("-id").values_list("rows", "intent__polls", "intent__accepted_at", "intent__finished_at")[:10]
    )
    timed = [(rows, polls, end - begin) for rows, polls, begin, end in recent if begin and end]
    if not timed:
        return POLLS, SECONDS_A_MEMBER
    polls = sum(polls for _rows, polls, _took in timed) / len(timed)
    took = sum((took for _rows, _polls, took in timed), timedelta()).total_seconds()
    return max(polls, 1.0), took / sum(rows for rows, _polls, _took in timed)


def left(job: Import, connection: Connection | None) -> Cost:
    """What the rows that wait will still cost."""
    waiting = ImportRow.objects.filter(job=job, state=RowState.PENDING).aggregate(
        creates=Count("pk", filter=Q(action=Action.CREATE)), updates=Count("pk", filter=Q(action=Action.UPDATE))
    )
    return of_rows(waiting["creates"], waiting["updates"], connection)


def spent(job: Import) -> int:
    """Calls made for the import so far: sendings and polls of its requests."""
    rows = ImportPart.objects.filter(job=job).values_list("intent__attempts", "intent__polls")
    return sum((attempts or 0) + (polls or 0) for attempts, polls in rows)
