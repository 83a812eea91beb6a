"""Queries of jobs for pages, limited to the tenant in scope, and of the jobs about one member."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from portal.domain.intents.models import Intent
from portal.domain.jobs import kinds
from portal.domain.jobs.models import NOT_APPLIED, SENDING, Action, Job, JobState, Part, Row, RowState
from portal.domain.people.models import Member
from portal.domain.people.queries import members_with_ids
from tenants.access import Access
from tenants.roles import Permission


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
    request_model: Any = Part if kinds.kind_of(job).submit_row is None else Row
    return Intent.objects.filter(pk__in=request_model.objects.filter(job=job, intent__isnull=False).values("intent"))


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
    """Return rows of a started job that were surely not applied, and that no other job has retried."""
    return rows_to_correct(job).exclude(action=Action.REFUSED)


def rows_to_correct(job: Job) -> QuerySet[Row]:
    """Return these rows, and those that failed the check: sending them again needs a corrected file."""
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


# The highest number of rows for which the audit log is searched.
_MAX_ROWS = 500
_DONE = (RowState.SUCCEEDED, RowState.UNCERTAIN)
_PENDING = (RowState.CHECKED, RowState.PENDING, RowState.SENT)


def rows_about(member_id: str, limit: int) -> list[Row]:
    """Return the newest rows of started jobs that changed this member, may have changed it, or failed.

    Rows that were submitted one by one are left out: each has its own entry in the audit log.
    """
    rows = Row.objects.filter(member_id=member_id, intent=None, state__in=[*_DONE, RowState.FAILED])
    started = rows.filter(job__started_at__isnull=False)
    return list(started.select_related("job__tenant", "job__by", "part__intent").order_by("-id")[:limit])


def members_of_jobs(members: QuerySet[Member], job_ids: Iterable[str]) -> QuerySet[Member]:
    """Return those of the members that one of these jobs created or changed, or may have changed."""
    rows = Row.objects.filter(job__in=list(job_ids), state__in=_DONE, action__in=[Action.CREATE, Action.UPDATE])
    return members_with_ids(members, rows.values("member_id"), "member_id")


def job_pages_of(access: Access, intents: Iterable[str]) -> dict[str, str]:
    """Return the pages of the jobs that submitted these intents row by row, by the intent's ID.

    The page is empty where this person may not see the job.
    """
    intent_ids = [int(each) for each in intents if each]
    rows = Row.objects.filter(intent__in=intent_ids).select_related("job__tenant") if intent_ids else []
    return {str(row.intent_id): page_for(access, row.job) for row in rows}


def page_for(access: Access, job: Job) -> str:
    """Return the page of a job for a person who may see it, else ""."""
    return kinds.page_address(job) if access.can(Permission(job.permission)) else ""


def pending_jobs_of(member_id: str) -> list[Job]:
    """Return the scheduled and running jobs that will still change this member.

    A row that was submitted alone is left out: its request is in the history already.
    """
    alive = [JobState.WAITING, JobState.RUNNING]
    rows = Row.objects.filter(member_id=member_id, intent=None, state__in=_PENDING, job__state__in=alive)
    jobs = Job.objects.filter(pk__in=rows.values("job")).defer("headings").select_related("tenant", "by")
    found = [job for job in jobs.order_by("starts_at", "pk")[:10] if kinds.kind_of(job).has_requests]
    for job in found:
        vars(job).update(title_now=kinds.kind_of(job).title_of(job), href=kinds.page_address(job))
    return found


def audit_filter_for_members(member_ids: Collection[str]) -> Q:
    """Return the condition for audit log entries of bulk requests that had one of these members."""
    rows = Row.objects.filter(member_id__in=member_ids).order_by("-id")
    sent = rows.filter(part__intent__isnull=False).values_list("part__intent_id", flat=True)[:_MAX_ROWS]
    jobs = [f"{kinds.kind_named(kind).family}:{pk}" for kind, pk in rows.values_list("job__kind", "job_id")[:_MAX_ROWS]]
    return Q(intent_id__in=[str(pk) for pk in sent]) | Q(intent_id="", target__in=jobs)


def audit_filter_for_intents(intents: Collection[str]) -> Q:
    """Return the condition for audit log entries of the jobs that submitted these intents row by row."""
    rows = Row.objects.filter(intent__in=[int(each) for each in intents])
    jobs = Job.objects.filter(pk__in=rows.values("job")).defer("headings").select_related("tenant")[:_MAX_ROWS]
    return Q(intent_id="", target__in=[kinds.describe_for_audit(job, "started").target for job in jobs])
