"""Forty minutes with a record every three seconds, with test clocks for the service and the portal.

tests/promises/test_busy_hour.py tests the same time with real processes.
"""

from datetime import datetime, timedelta

import pytest

from accessapi.operations import CallClass
from portal.base.timers.clock import database_now
from portal.domain.budget import ledger
from portal.domain.budget.priorities import Priority
from portal.domain.events import READ_INTERVALS, MirrorKind
from portal.domain.history.models import History
from portal.domain.sync import schedule, tasks
from portal.domain.sync.models import MirrorState
from tenants.scope import tenant_scope
from tests.support.call_budgets import spend
from tests.support.clocks import moved_clock
from tests.support.effort import SOAK
from tests.support.hooks import notification
from tests.webhooks.test_hints import look, state, work

GENERAL, LOG = 720, 23
#: API calls for lists and rights, and those that jobs have used.
LISTS, JOBS = 180, 115
# Three minutes run in some seconds, and are longer than the log may be behind.
STEP, MINUTES = 3, 40 if SOAK else 3
#: The allowed delay of the log: a notified record waits up to 20 s, others wait for the next regular reading.
SOON = {True: timedelta(seconds=40), False: timedelta(seconds=READ_INTERVALS[MirrorKind.HISTORIES] * 1.1 + 2 * STEP)}


@pytest.fixture
def clock(db):
    with moved_clock() as clock:
        yield clock


@pytest.fixture
def house(place, hook, clock):
    """Load everything once, and let jobs use many of the hour's calls."""
    schedule.schedule_all(place.tenant)
    with tenant_scope(place.tenant):
        tasks.read_due()
        spend(place.connection, Priority.JOBS, JOBS)
    return place


def happen(place, door):
    """Show an unknown card at a door, and return the record's history_id."""
    shown = {"device_id": door, "kind": "card", "value": "0123"}
    answer = place.sandbox.console("present", tenant_id=place.service.tenant_id, **shown)
    return answer["history"]["history_id"]


def everything_is_due(place):
    """Make lists and rights due, too."""
    with tenant_scope(place.tenant):
        MirrorState.objects.exclude(kind=MirrorKind.HISTORIES).filter(lease=None).update(
            due_at=database_now(), woken_at=None
        )


def behind(place, made):
    """Return the age of the oldest record that is missing in the log."""
    now = place.sandbox.now(place.service.tenant_id)
    with tenant_scope(place.tenant):
        known = set(History.objects.filter(notified=False, history_id__in=made).values_list("history_id", flat=True))
    for name in known:
        del made[name]
    return max((now - at for at in made.values()), default=timedelta(0))


@pytest.mark.share
@pytest.mark.parametrize("used", [LISTS, LISTS // 2], ids=["no call left for lists", "half of their calls left"])
@pytest.mark.parametrize("is_told", [True, False], ids=["with notifications", "without"])
def test_the_log_is_read_first_and_never_stands_still(house, hook, post, process, clock, is_told, used):
    with tenant_scope(house.tenant):
        spend(house.connection, Priority.SYNC, used, over=60)
    tenant_id, made, worst = house.service.tenant_id, dict[str, datetime](), timedelta(0)
    door = house.sandbox.doors(house.service.token)[0]["device_id"]
    calls, others, begun = len(house.calls()), 0, house.sandbox.now(tenant_id)
    for _ in range(MINUTES * 60 // STEP):
        clock.move(seconds=STEP)
        now = house.sandbox.move_clock(tenant_id, seconds=STEP)
        made[name := happen(house, door)] = now
        if is_told:
            post(notification(name, at=now))
            process.flush()
            if hook.row.due_at <= database_now():
                look(hook)
        everything_is_due(house)
        work(hook)
        everybody = house.calls()
        asked, calls = [call["operation"] for call in everybody[calls:]], len(everybody)
        assert LOG not in asked[1:] or asked[0] == LOG, "nothing is read before the log"
        others += len(asked) - asked.count(LOG)
        worst = max(worst, behind(house, made))
        assert state(hook).error == ""
    assert worst < SOON[is_told]
    assert (others > 0) == (used < LISTS), "lists and rights have what is theirs, and no more"
    readings = len(house.calls(LOG))
    passed = house.sandbox.now(tenant_id) - begun  # includes the machine's own delays
    assert readings <= 25 + passed.total_seconds() / 20
    assert [call for call in house.calls() if call["status"] == 429] == []
    with tenant_scope(house.tenant):
        hour = ledger.read_gauge(house.connection, CallClass.GENERAL)
    assert hour.used <= GENERAL * 0.75
