"""The jobs that the addresses of an area of work name: those of the tenant in the address and of the area's kinds."""

from collections.abc import Callable

from django.http import Http404, HttpRequest

from portal.core.jobs import kinds
from portal.core.jobs.models import Job

Find = Callable[..., Job]


def of_family(family: str, *related: str) -> Find:
    """Return the look-up of a family's job, with what its page needs of `related`. It raises Http404 for all others."""

    def find(_request: HttpRequest, job_id: int) -> Job:
        known = Job.objects.select_related("by", "tenant__environment", "retry_of", *related)
        job = known.filter(kind__in=kinds.names(family), pk=job_id).first() if job_id < 2**63 else None
        if job is None:
            raise Http404
        return job

    return find
