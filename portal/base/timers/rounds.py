"""Work on all tenants in rounds: each run continues where the last one ended, until the round is complete.

A step yields its place and then does the work. The place is saved before the work begins. So a step that takes too long
or crashes the process is skipped in this round, and the others are not. Runs follow each other at once until the round
is complete; the next round is due `every` seconds later.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db.models import QuerySet

from portal.base.timers import celery_app, timer_registry
from portal.base.timers.clock import ClockTime
from portal.base.timers.models import TimerRun
from portal.base.timers.timer_registry import Querysets
from tenants.models import Tenant
from tenants.scope import across_tenants, tenant_scope

log = structlog.get_logger(__name__)

Steps = Callable[[int], Iterable[int]]
# How often the clock checks whether a round is due.
_CHECK_SECONDS = 5.0
# The share of a task's time in which a run begins another step.
_WORK_SHARE = 0.5
# Seconds after a task's limit. A crashed process has ended by then, and another continues.
_MORE_THAN_THE_LIMIT = 15
_AFTER_TROUBLE = timedelta(seconds=60)
# How many are loaded, enqueued and deleted at a time.
_TENANTS, _CALLS, _ROWS = 100, 500, 2000


def register(name: str, steps: Steps, *, every: float, queue: str, seconds: int = 30) -> None:
    """Register rounds of `steps` for workers of this queue. `steps` gets the place after which to continue.

    A run takes half of `seconds`; a single step may take the rest.
    """

    def check() -> None:
        if continue_round(name, steps, every=every, seconds=seconds):
            celery_app.enqueue(task, [()])

    def work() -> list[QuerySet[Any]]:
        return [TimerRun.objects.filter(name=name, due_at__lte=ClockTime()).order_by("due_at")]

    timer = timer_registry.Timer(every, work, list, check_every=min(every, _CHECK_SECONDS), is_in_rounds=True)
    task = timer_registry.add_timer(name, check, timer, queue=queue, seconds=seconds)


def create_missing_runs() -> None:
    """Create due runs for all rounds that never ran. Called by a clock that begins to lead."""
    names = [name for name, timer in timer_registry.TIMERS.items() if timer.is_in_rounds]
    TimerRun.objects.bulk_create([TimerRun(name=name) for name in names], ignore_conflicts=True)


def continue_round(name: str, steps: Steps, *, every: float, seconds: float) -> bool:
    """Continue a round that is due and not claimed by another process. Return True if more of it is left."""
    place = _claim_round(name, seconds)
    if place is None:
        return False
    mine = TimerRun.objects.filter(name=name)
    until = time.monotonic() + seconds * _WORK_SHARE
    try:
        for at in steps(place):
            if time.monotonic() >= until:
                mine.update(due_at=ClockTime())
                return True
            if at != place:
                mine.update(place=at)
                place = at
    except Exception:
        mine.update(due_at=ClockTime() + _AFTER_TROUBLE)
        raise
    mine.update(place=0, done_at=ClockTime(), due_at=ClockTime() + timedelta(seconds=every))
    return False


def _claim_round(name: str, seconds: float) -> int | None:
    """Return the place after which to continue; None if the round is not due, or another process runs it."""
    TimerRun.objects.get_or_create(name=name)
    due = TimerRun.objects.filter(name=name, due_at__lte=ClockTime())
    if not due.update(due_at=ClockTime() + timedelta(seconds=seconds + _MORE_THAN_THE_LIMIT)):
        return None
    return TimerRun.objects.values_list("place", flat=True).get(name=name)


def tenant_steps(rows: Querysets, work: Callable[[Tenant], object]) -> Steps:
    """Return steps that call `work` in the scope of each tenant with such rows. Failing tenants are skipped."""

    def steps(after: int) -> Iterator[int]:
        for ids in _tenant_id_batches(rows, after, _TENANTS):
            tenants = Tenant.objects.select_related("environment").in_bulk(ids)
            for pk in ids:
                yield pk
                run_for_tenant(tenants[pk], work)

    return steps


def enqueue_steps(task: str, rows: Querysets, *, expires: float = celery_app.EXPIRES_SECONDS) -> Steps:
    """Return steps that start a task for each tenant with such rows, many at a time."""

    def steps(after: int) -> Iterator[int]:
        for ids in _tenant_id_batches(rows, after, _CALLS):
            yield ids[-1]
            celery_app.enqueue(task, [(pk,) for pk in ids], expires=expires)

    return steps


def delete_steps(rows: Querysets) -> Steps:
    """Return steps that delete rows of all tenants, some at a time."""

    def steps(after: int) -> Iterator[int]:
        for number in range(len(_querysets_of(rows))):
            count = _ROWS
            while count == _ROWS:
                yield 0
                with across_tenants("a round goes through all tenants"):
                    old = rows()[number]
                    ids = list(old.values_list("pk", flat=True)[:_ROWS])
                    old.model._base_manager.filter(pk__in=ids).delete()
                count = len(ids)

    return steps


def _tenant_id_batches(rows: Querysets, after: int, count: int) -> Iterator[list[int]]:
    """Yield the ids of tenants that have rows, in order, so many at a time."""
    while ids := sorted(_tenants(rows, after, count))[:count]:
        yield ids
        after = ids[-1]


def _tenants(rows: Querysets, after: int, count: int) -> set[int]:
    with across_tenants("a round goes through all tenants"):
        found = [each.filter(tenant_id__gt=after).order_by("tenant_id").values("tenant_id") for each in rows()]
        return {row["tenant_id"] for each in found for row in each.distinct()[:count]}


def _querysets_of(rows: Querysets) -> list[QuerySet[Any]]:
    with across_tenants("a round goes through all tenants"):
        return rows()


def run_for_tenant(tenant: Tenant, work: Callable[[Tenant], object]) -> None:
    """Do the work in the tenant's scope. Errors are logged, so that the other tenants get their turn."""
    try:
        with tenant_scope(tenant):
            work(tenant)
    except SoftTimeLimitExceeded:
        raise
    except Exception:
        log.exception("round_failed_for_tenant", tenant_id=tenant.pk)
