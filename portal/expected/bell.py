"""Waking a worker for a list. What a dead broker does not take, the tick finds: what is due stands in the database."""

from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import QuerySet
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from portal.core.intents.clock import ClockTime
from portal.expected.models import ExpectedList, ListState
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)

_RING_AGAIN = timedelta(seconds=15)
_BATCH = 100


def after_commit(job: ExpectedList) -> None:
    """Have the list's next step done as soon as what was written is visible."""
    tenant_id, list_id = job.tenant_id, job.pk
    transaction.on_commit(lambda: ring([(tenant_id, list_id)]))


def ring(lists: list[tuple[int, int]]) -> None:
    from portal.expected import tasks

    for tenant_id, list_id in lists:
        try:
            tasks.advance.apply_async((tenant_id, list_id), expires=60)
        except (OperationalError, RedisError, OSError) as error:
            log.warning("expected_bell_not_heard", list_id=list_id, error=type(error).__name__)
            return


def work() -> list[QuerySet[ExpectedList]]:
    """The running lists that are due. Call inside `across_tenants`."""
    return [ExpectedList.objects_across_tenants.filter(due_at__lte=ClockTime(), state=ListState.RUNNING)]


def tick() -> int:
    """Ring for every running list that is due; how many that were."""
    with across_tenants("the timers of all tenants are looked at together"), transaction.atomic():
        [rows] = work()
        due = list(rows.order_by("due_at").select_for_update(of=("self",), skip_locked=True)[:_BATCH])
        ids = [job.pk for job in due]
        ExpectedList.objects_across_tenants.filter(pk__in=ids).update(due_at=ClockTime() + _RING_AGAIN)
    ring([(job.tenant_id, job.pk) for job in due])
    return len(due)
