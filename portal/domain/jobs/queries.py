"""Queries of jobs for pages, limited to the tenant in scope."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from portal.domain.intents.models import Intent
from portal.domain.jobs import kinds
from portal.domain.jobs.models import Job, Part, Row
from portal.domain.jobs.states import NOT_APPLIED, SENDING, Action, JobState, RowState


@dataclass(frozen=True)
class RowCounts:
    """The numbers of a job's rows: by action, and by state."""

    actions: dict[str, int]
    states: dict[str, int]

    @property
    def rows(self) -> int:
        return sum(self.actions.values())

    def by_action(self, name: str) -> int:
        return self.actions.get(name, 0)

    def by_state(self, name: str) -> int:
        return self.states.get(name, 0)

    @property
    def to_send(self) -> int:
        return sum(self.by_action(action) for action in SENDING)

    @property
    def settled(self) -> int:
        """Return how many rows to be sent have a final state, "uncertain" included."""
        return sum(self.by_state(s) for s in (RowState.SUCCEEDED, RowState.KEPT, RowState.FAILED, RowState.UNCERTAIN))


def jobs_of_family(family: str) -> QuerySet[Job]:
    """Return the jobs of a family, for a list."""
    return with_problem_flags(Job.objects.filter(kind__in=kinds.kinds_in_family(family))).select_related("by", "tenant")


def with_problem_flags(rows: QuerySet[Job]) -> QuerySet[Job]:
    """Return jobs with the flags `uncertain` and `failed` (and not retried) of their rows, for chips."""
    left = Row.objects.filter(job=OuterRef("pk"), retried_in=None)
    return rows.annotate(
        uncertain=Exists(left.filter(state=RowState.UNCERTAIN)), failed=Exists(left.filter(state=RowState.FAILED))
    )


def intents_of(job: Job) -> QuerySet[Intent]:
    """Return the intents of a job, submitted for its rows or for parts of them."""
    carrying: Any = Part if kinds.kind_of(job).submit_row is None else Row
    return Intent.objects.filter(pk__in=carrying.objects.filter(job=job, intent__isnull=False).values("intent"))


def count_rows(job: Job) -> RowCounts:
    """Count the job's rows by action and state, in one index scan."""
    groups = Row.objects.filter(job=job).order_by().values_list("action", "state").annotate(n=Count("pk"))
    actions: dict[str, int] = {}
    states: dict[str, int] = {}
    for action, state, n in groups:
        actions[action] = actions.get(action, 0) + n
        states[state] = states.get(state, 0) + n
    return RowCounts(actions, states)


def count_noted(job: Job) -> int:
    """Count the rows to be sent that have notes."""
    return Row.objects.filter(job=job, action__in=SENDING).exclude(notes=[]).count()


def rows_not_applied(job: Job) -> QuerySet[Row]:
    """Return rows that were surely not applied and that no other job has retried: refused, or not sent."""
    mine = Row.objects.filter(job=job, retried_in__isnull=True)
    return mine.filter(Q(state__in=NOT_APPLIED) | Q(action=Action.REFUSED))


def has_earlier_job(job: Job) -> bool:
    """Return whether a job that started earlier must end first."""
    family = kinds.kind_of(job).family
    if family != kinds.SEQUENTIAL_FAMILY or job.started_at is None:
        return False
    earlier = Job.objects.filter(
        kind__in=kinds.kinds_in_family(family), state=JobState.RUNNING, started_at__lt=job.started_at
    )
    return earlier.exists()
