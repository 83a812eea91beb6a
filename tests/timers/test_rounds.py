"""Rounds go through all tenants, even if they are interrupted, and one process at a time."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from portal.base.timers import celery_app, rounds
from portal.base.timers.clock import ClockTime
from portal.base.timers.models import TimerRun
from portal.domain.visits.models import Visit
from tenants.models import ServiceEnvironment, Tenant
from tenants.scope import across_tenants, current_tenant_id
from tests.support.rounds import tenants_with

pytestmark = pytest.mark.django_db
EVERY, SECONDS = 600, 60


@pytest.fixture
def tenants() -> list[int]:
    """Return the ids of five tenants, in order."""
    environment = ServiceEnvironment.objects.create(
        name="x", base_url="http://127.0.0.1:9", client_id="c", client_secret="s"
    )
    made = [Tenant.objects.create(slug=f"t{n}", name=f"T {n}", environment=environment) for n in range(5)]
    return sorted(each.pk for each in made)


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that have passed for rounds only."""
    seconds = [1000.0]
    monkeypatch.setattr(rounds, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    return seconds


class Walk:
    """Rounds through these tenants that record which they visit. `at` is called at one of them."""

    def __init__(self, tenants: list[int]) -> None:
        self.tenants = tenants
        self.visited: list[int] = []
        self.at: dict[int, Callable[[], object]] = {}
        self.steps: rounds.Steps = lambda after: ()

    def _visit(self, tenant: Tenant) -> None:
        assert current_tenant_id() == tenant.pk
        self.visited.append(tenant.pk)
        self.at.get(tenant.pk, lambda: None)()

    def run(self) -> bool:
        TimerRun.objects.update(due_at=ClockTime())
        return rounds.continue_round("walk", self.steps, every=EVERY, seconds=SECONDS)


@pytest.fixture
def walk(tenants: list[int], monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Return a walk that reads two tenants at a time."""
    monkeypatch.setattr(rounds, "_TENANTS", 2)
    walk = Walk(tenants)

    def with_visits() -> list:
        return [Visit.objects_across_tenants.all()]

    with across_tenants("a test furnishes its tenants"):
        for pk in tenants:
            visit(pk)
    walk.steps = rounds.tenant_steps(with_visits, walk._visit)
    return walk


def visit(tenant_id: int) -> None:
    Visit.objects_across_tenants.create(
        tenant_id=tenant_id, guest_name="佐藤", name_key="佐藤", use_date_start=ClockTime(), use_date_end=ClockTime()
    )


def run_row() -> TimerRun:
    return TimerRun.objects.get(name="walk")


def test_a_round_comes_to_each_tenant_once_and_is_due_again_after_its_time(walk: Walk) -> None:
    assert walk.run() is False
    assert walk.visited == walk.tenants
    run = run_row()
    assert run.done_at is not None
    assert round((run.due_at - run.done_at).total_seconds()) == EVERY
    assert rounds.continue_round("walk", walk.steps, every=EVERY, seconds=SECONDS) is False
    assert walk.visited == walk.tenants, "it was not due"


def test_a_run_that_has_no_more_time_goes_on_where_it_was_and_at_once(walk: Walk, passed: list[float]) -> None:
    def takes_long() -> None:
        passed[0] += SECONDS * 0.6

    walk.at = dict.fromkeys(walk.tenants[1::2], takes_long)
    assert walk.run() is True
    assert walk.visited == walk.tenants[:2]
    assert run_row().done_at is None
    assert rounds.continue_round("walk", walk.steps, every=EVERY, seconds=SECONDS) is True, "it is due at once"
    assert walk.run() is False
    assert walk.visited == walk.tenants
    assert run_row().place == 0


def test_a_tenant_whose_work_fails_keeps_nobody_else_waiting(walk: Walk) -> None:
    def fails() -> None:
        raise ValueError

    walk.at = {walk.tenants[1]: fails}
    assert walk.run() is False
    assert walk.visited == walk.tenants


def test_a_tenant_that_takes_too_long_is_passed_over_in_this_round(walk: Walk) -> None:
    def is_cut_off() -> None:
        raise SoftTimeLimitExceeded

    walk.at = {walk.tenants[1]: is_cut_off}
    with pytest.raises(SoftTimeLimitExceeded):
        walk.run()
    assert walk.run() is False
    assert walk.visited == walk.tenants


def test_a_process_that_is_killed_at_a_tenant_is_not_killed_there_again(walk: Walk) -> None:
    class Killed(BaseException):
        pass

    def is_killed() -> None:
        raise Killed

    walk.at = {walk.tenants[2]: is_killed}
    with pytest.raises(Killed):
        walk.run()
    assert rounds.continue_round("walk", walk.steps, every=EVERY, seconds=SECONDS) is False, (
        "perhaps it is at work still"
    )
    assert walk.visited == walk.tenants[:3]
    assert walk.run() is False
    assert walk.visited == walk.tenants


def test_no_two_processes_do_one_round(walk: Walk) -> None:
    def another_process_looks() -> None:
        with across_tenants("another process is in no tenant's scope"):
            rounds.continue_round("walk", walk.steps, every=EVERY, seconds=SECONDS)

    walk.at = {walk.tenants[2]: another_process_looks}
    walk.run()
    assert walk.visited == walk.tenants


def test_workers_are_woken_for_each_tenant(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[list[tuple[int, ...]]] = []
    monkeypatch.setattr(celery_app, "enqueue", lambda _task, rows, **_: rung.append(rows))
    monkeypatch.setattr(rounds, "_CALLS", 3)
    walk.steps = rounds.enqueue_steps("some.task", lambda: [Visit.objects_across_tenants.all()])
    walk.run()
    assert rung == [[(pk,) for pk in walk.tenants[:3]], [(pk,) for pk in walk.tenants[3:]]]


def test_old_rows_are_deleted_some_at_a_time(walk: Walk, passed: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_ROWS", 2)

    def visits() -> list:
        return [Visit.objects_across_tenants.filter(pk__lt=0), Visit.objects_across_tenants.all()]

    deleting = rounds.delete_steps(visits)

    def slowly(after: int) -> Iterator[int]:
        for place in deleting(after):
            yield place
            passed[0] += SECONDS * 0.35

    walk.steps = slowly
    assert walk.run() is True
    assert len(tenants_with(visits)) == 3
    assert walk.run() is True
    assert walk.run() is False
    assert tenants_with(visits) == []
