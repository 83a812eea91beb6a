"""Waking a worker for a job's next step: the dry run of a mapped one, the next request of a started one."""

from datetime import timedelta

from django.db.models import Case, F, QuerySet, When

from portal.core.jobs.models import Job
from portal.core.jobs.states import ALIVE, JobState
from portal.core.timers import ticking
from portal.core.timers.bell import ring_after_commit
from portal.core.timers.clock import ClockTime
from portal.core.timers.pauses import seconds
from portal.core.timers.ticking import Wakeup

ADVANCE = "portal.core.jobs.tasks.advance"
EXPIRES = 120
# A step whose worker died begins again after this; one that goes on does so alone, since its rows decide.
_RING_AGAIN = timedelta(seconds=8)


def after_commit(job: Job) -> None:
    """Have the job's next step done as soon as what was written is visible."""
    ring_after_commit(_task_of(job), job.tenant_id, job.pk, expires=EXPIRES)


def _task_of(job: Job) -> str:
    return "portal.core.jobs.tasks.check" if job.state == JobState.MAPPED else ADVANCE


def _due() -> QuerySet[Job]:
    """The jobs that are due and that nobody is at work on."""
    return Job.objects_across_tenants.filter(due_at__lte=ClockTime(), state__in=[JobState.MAPPED, *ALIVE])


DUE = Wakeup(
    rows=_due,
    task=_task_of,
    # The dry run keeps its own lease.
    mark=lambda: {"due_at": Case(When(state__in=ALIVE, then=ClockTime() + _RING_AGAIN), default=F("due_at"))},
    needs=("state",),
    expires=EXPIRES,
)


def register() -> None:
    ticking.register("jobs", DUE.look, every=seconds(1), queue="bulk", work=DUE.work)
