"""Each timer reports how long its work has been waiting."""

from datetime import timedelta

import pytest

from portal.base.timers import timer_registry
from portal.base.timers.clock import database_now
from portal.base.timers.models import TimerRun
from portal.base.timers.timer_registry import TIMERS, Lag
from portal.domain.alerts.models import DetectionState
from portal.domain.visits.models import Visit
from tenants.scope import across_tenants, tenant_scope
from tests.support.places import Place

# Timers whose rows have no due time, and why.
TIMELESS = {"cameras_in_sight": "a camera is in sight, or not"}


def lag_of(timer: str) -> Lag:
    return next(each for each in timer_registry.lags() if each.name == timer)


def test_each_timer_with_rows_says_since_when_they_are_due() -> None:
    with across_tenants("a test looks at the timers"):
        timeless = {
            name for name, timer in TIMERS.items() if not timer.is_in_rounds
            and not any(rows.query.order_by for rows in timer.lag_rows())
        }  # fmt: skip
    assert timeless == set(TIMELESS)


@pytest.mark.usefixtures("place")
def test_where_nothing_waits_there_is_no_lag() -> None:
    assert [each.name for each in timer_registry.lags()] == list(TIMERS)
    assert {each.seconds for each in timer_registry.lags()} == {0.0}
    assert not any(each.is_late or each.is_round_open for each in timer_registry.lags())


def test_the_lag_of_rows_is_the_age_of_the_oldest_one_that_is_due(place: Place) -> None:
    now = database_now()
    with tenant_scope(place.tenant):
        for minutes in (-5, 3, 2):
            at = now - timedelta(minutes=minutes)
            Visit.objects.create(guest_name="佐藤", name_key="佐藤", use_date_start=at, use_date_end=at, cut_due_at=at)
    found = lag_of("codes_that_must_die")
    assert 180 <= found.seconds < 240
    assert found.is_late


def test_what_was_rung_for_and_not_done_lags_still(place: Place) -> None:
    now = database_now()
    with tenant_scope(place.tenant):
        DetectionState.objects.create(due_at=now - timedelta(minutes=2), woken_at=now)
    assert lag_of("alerts").is_late
    with tenant_scope(place.tenant):
        DetectionState.objects.update(due_at=now - timedelta(seconds=30))
    assert not lag_of("alerts").is_late


@pytest.mark.django_db
def test_a_round_lags_by_what_its_end_is_overdue() -> None:
    now = database_now()
    run = TimerRun.objects.create(name="doors", done_at=now - timedelta(seconds=40), place=7)
    assert lag_of("doors") == Lag("doors", 60.0, 0.0, run.done_at, True)
    TimerRun.objects.update(done_at=now - timedelta(seconds=150), place=0)
    assert 90 <= lag_of("doors").seconds < 150
    assert not lag_of("doors").is_late
    TimerRun.objects.update(done_at=now - timedelta(seconds=200))
    assert lag_of("doors").is_late
    TimerRun.objects.update(done_at=None, created_at=now - timedelta(seconds=200))
    assert lag_of("doors").is_late, "it was never complete"
