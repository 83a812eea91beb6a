"""Queries for lists of expected guests of the tenant in scope."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest

from portal.domain.jobs.models import Job, Row, RowState
from portal.domain.jobs.queries import with_problem_flags
from portal.domain.visits.models import Visit

KIND = "expected"


def guest_lists() -> QuerySet[Job]:
    return with_problem_flags(Job.objects.filter(kind=KIND)).select_related("by", "tenant")


def list_number(job: Job) -> int:
    """Return the list's number for addresses, the audit log and its intents.

    Lists that were uploaded before lists were jobs keep their old number.
    """
    return int(job.options.get("list") or job.pk)


def list_or_404(_request: HttpRequest, job_id: int) -> Job:
    """Return the list of this number. Raises Http404 if there is none."""
    known = guest_lists().select_related("tenant__environment").filter(Q(pk=job_id) | Q(options__list=job_id))
    job = known.order_by("-pk").first() if job_id < 2**63 else None
    if job is None:
        raise Http404
    return job


def earlier_upload(job: Job) -> Job | None:
    """Return an earlier list of the same file that was started."""
    same = guest_lists().filter(
        options__fingerprint=job.options["fingerprint"], pk__lt=job.pk, started_at__isnull=False
    )
    return same.order_by("-pk").first()


def cells_of(job: Job, lines: set[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the headings (line 0) and these lines as they were uploaded."""
    yield 0, job.headings or []
    for row in Row.objects.filter(job=job, line__in=lines, content__isnull=False).order_by("line"):
        yield row.line, row.content["cells"]


def issued_visits(job: Job) -> QuerySet[Visit]:
    """Return the visits of the list that have a code."""
    done = Row.objects.filter(job=job, state=RowState.SUCCEEDED, intent__isnull=False)
    return Visit.objects.filter(intent__in=done.values("intent"))
