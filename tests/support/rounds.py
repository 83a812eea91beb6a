"""A timer's round, done at once as a worker does it."""

from portal.base.timers.celery_app import app
from portal.base.timers.clock import ClockTime
from portal.base.timers.models import TimerRun
from portal.base.timers.timer_registry import Querysets
from tenants.scope import across_tenants


def round_of(timer: str) -> TimerRun:
    """Do a whole round, even if the last one was just done."""
    TimerRun.objects.filter(name=timer).update(due_at=ClockTime())
    app.tasks[f"portal.timers.{timer}"].run()
    run = TimerRun.objects.get(name=timer)
    assert (run.place, run.done_at is not None) == (0, True), "the round is complete"
    return run


def tenants_with(rows: Querysets) -> list[int]:
    """Return the tenants that have rows for a round."""
    with across_tenants("a test looks at what is due of all tenants"):
        return sorted({pk for each in rows() for pk in each.values_list("tenant_id", flat=True)})
