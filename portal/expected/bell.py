"""Waking a worker for a list. What a dead broker does not take, the timer finds: what is due stands in the database."""

from datetime import timedelta

from django.db.models import QuerySet

from portal.core.timers.bell import ring_after_commit
from portal.core.timers.clock import ClockTime
from portal.core.timers.ticking import Due
from portal.expected.models import ExpectedList, ListState

_ADVANCE = "portal.expected.tasks.advance"
_RING_AGAIN = timedelta(seconds=15)


def after_commit(job: ExpectedList) -> None:
    """Have the list's next step done as soon as what was written is visible."""
    ring_after_commit(_ADVANCE, job.tenant_id, job.pk)


def _due() -> QuerySet[ExpectedList]:
    return ExpectedList.objects_across_tenants.filter(due_at__lte=ClockTime(), state=ListState.RUNNING)


DUE = Due(rows=_due, task=_ADVANCE, mark=lambda: {"due_at": ClockTime() + _RING_AGAIN})
