"""The changes that a person may see: those of the tenant in the address, others answer like missing ones."""

from django.http import Http404, HttpRequest

from portal.changes.acts import ACTS, Act
from portal.core.jobs import kinds
from portal.core.jobs.models import Job

FAMILY = "change"


def get_job(request: HttpRequest, job_id: int, *, act: bool = False) -> Job:
    """A job of this family. With `act`, of a person who may run it: raises Refused otherwise."""
    known = Job.objects.filter(kind__in=kinds.names(FAMILY)).select_related(
        "by", "tenant__environment", "retry_of", "undo_of"
    )
    job = known.filter(pk=job_id).first() if job_id < 2**63 else None
    if job is None:
        raise Http404
    if act:
        request.access.check(job.permission)
    return job


def get_act(request: HttpRequest, name: str) -> Act:
    """What the address names, if this person may do it."""
    act = ACTS.get(name)
    if act is None:
        raise Http404
    request.access.check(act.permission)
    return act
