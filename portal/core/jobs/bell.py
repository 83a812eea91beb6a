"""Waking a worker. What a dead broker does not take, the tick finds: everything that is due stands in the database."""

from collections.abc import Iterable
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import QuerySet
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from portal.core.intents.clock import ClockTime
from portal.core.jobs.models import Job
from portal.core.jobs.states import ALIVE, JobState
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)

# A step whose worker died begins again after this; one that goes on does so alone, since its rows decide.
RING_AGAIN = timedelta(seconds=8)
_BATCH = 200


def after_commit(job: Job) -> None:
    """Have the job's next step done as soon as what was written is visible."""
    tenant_id, job_id, state = job.tenant_id, job.pk, job.state
    transaction.on_commit(lambda: ring([(tenant_id, job_id, state)]))


def ring(jobs: Iterable[tuple[int, int, str]]) -> None:
    """Send each job's task: the dry run of a mapped one, the next step of a started one."""
    from portal.core.jobs import tasks

    for tenant_id, job_id, state in jobs:
        task = tasks.check if state == JobState.MAPPED else tasks.advance
        try:
            task.apply_async((tenant_id, job_id), expires=120)
        except (OperationalError, RedisError, OSError) as error:
            log.warning("job_bell_not_heard", job_id=job_id, error=type(error).__name__)
            return


def work() -> list[QuerySet[Job]]:
    """The jobs that are due and that nobody is at work on. Call inside `across_tenants`."""
    return [Job.objects_across_tenants.filter(due_at__lte=ClockTime(), state__in=[JobState.MAPPED, *ALIVE])]


def tick() -> int:
    """Ring for every job that is due and that nobody is at work on; how many that were."""
    with across_tenants("the timers of all tenants are looked at together"), transaction.atomic():
        [rows] = work()
        due = list(
            rows.order_by("due_at").select_for_update(skip_locked=True).values_list("tenant_id", "id", "state")[:_BATCH]
        )
        started = [job_id for _tenant, job_id, state in due if state in ALIVE]
        Job.objects_across_tenants.filter(pk__in=started).update(due_at=ClockTime() + RING_AGAIN)
    ring(due)
    return len(due)
