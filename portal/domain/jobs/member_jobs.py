"""Jobs of one member or guest, past and pending: bulk changes, imports and scheduled changes."""

from collections.abc import Collection, Iterable

from django.db.models import Q

from portal.domain.jobs import kinds
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import JobState, RowState
from tenants.access import Access
from tenants.roles import Permission

# The highest number of rows for which the audit log is searched.
_MAX_ROWS = 500
_DONE = (RowState.SUCCEEDED, RowState.UNCERTAIN)
_PENDING = (RowState.CHECKED, RowState.PENDING, RowState.SENT)


def rows_applied_to(member_id: str, limit: int) -> list[Row]:
    """Return the newest rows in which a bulk request changed this member, or may have changed it."""
    rows = Row.objects.filter(member_id=member_id, state__in=_DONE, part__intent__isnull=False)
    return list(rows.select_related("job__tenant", "job__by", "part__intent").order_by("-id")[:limit])


def job_pages_of(access: Access, intents: Iterable[str]) -> dict[str, str]:
    """Return the pages of the jobs that submitted these intents row by row, by the intent's ID.

    The page is empty where this person may not see the job.
    """
    asked = [int(each) for each in intents if each]
    rows = Row.objects.filter(intent__in=asked).select_related("job__tenant") if asked else []
    return {str(row.intent_id): page_for(access, row.job) for row in rows}


def page_for(access: Access, job: Job) -> str:
    """Return the page of a job for a person who may see it, else ""."""
    return kinds.page_address(job) if access.can(Permission(job.permission)) else ""


def pending_jobs_of(member_id: str) -> list[Job]:
    """Return the scheduled and running jobs that will still change this member."""
    alive = [JobState.WAITING, JobState.RUNNING]
    rows = Row.objects.filter(member_id=member_id, state__in=_PENDING, job__state__in=alive)
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
