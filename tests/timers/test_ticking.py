"""A tick continues, batch after batch, until nothing is due."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest

from portal.base.timers import celery_app, timer_registry
from portal.base.timers.clock import ClockTime
from portal.base.timers.timer_registry import Process
from portal.domain.visits.models import Visit
from tenants.scope import tenant_scope
from tests.support.places import Place

NUMBER = 450


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the rows for which workers were notified, in place of the broker."""
    found: list[int] = []
    monkeypatch.setattr(celery_app, "enqueue", lambda _task, rows, **_: found.extend(pk for _tenant, pk in rows))
    return found


@pytest.fixture
def due(place: Place) -> list[int]:
    """Create 450 visits that are due, the oldest first."""
    with tenant_scope(place.tenant):
        made = Visit.objects.bulk_create(
            Visit(guest_name="佐藤", name_key="佐藤", use_date_start=ClockTime(), use_date_end=ClockTime(),
                  cut_due_at=ClockTime() - timedelta(minutes=NUMBER - number))
            for number in range(NUMBER)
        )  # fmt: skip
    return [each.pk for each in made]


def wakeup(mark: Callable[[], dict]) -> Process[Visit]:
    return Process(
        name="some", rows=timer_registry.due(Visit, "cut_due_at"), step=print, queue="bulk", every=1.0,
        claim_values=mark, order=("cut_due_at",),
    )  # fmt: skip


def later() -> dict:
    return {"cut_due_at": ClockTime() + timedelta(minutes=1)}


@pytest.mark.parametrize("mark", [later, dict], ids=["marked", "not marked"])
def test_one_look_rings_once_for_all_that_is_due(mark: Callable[[], dict], due: list[int], rung: list[int]) -> None:
    assert wakeup(mark).check_due() == NUMBER
    assert rung == due


def test_a_look_that_has_no_more_time_leaves_the_rest_to_the_next(
    due: list[int], rung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = iter(range(0, 1000, 15))
    monkeypatch.setattr(timer_registry, "time", SimpleNamespace(monotonic=lambda: next(passed)))
    assert wakeup(later).check_due() == 400
    assert rung == due[:400]
    assert wakeup(later).check_due() == 50
    assert rung == due
