"""Of any number of clocks one leads. Another takes over when it ends, is killed or stops working."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from django.db import connection, connections
from django.db.models import F

from portal.base.timers import beat
from portal.base.timers.celery_app import app
from portal.base.timers.clock import database_now
from portal.base.timers.models import Lease
from tests.support.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")


class Process:
    """A clock with a separate thread and database session, as another process has it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self.clock = self.does(lambda: beat.Clock(app))
        self.rung: list[str] = []
        self.clock.apply_entry = lambda entry, **_: self.rung.append(entry.name)

    def does(self, what: Callable[[], T]) -> T:
        return self._thread.submit(what).result()

    def keeps(self) -> bool:
        return self.does(self.clock.holder.renew_or_take)

    def ticks(self) -> list[str]:
        """Return what it notifies workers of in one tick."""
        self.rung.clear()
        self.clock._renew_at = 0.0
        self.does(self.clock.tick)
        return list(self.rung)

    def dies(self) -> None:
        """End its session, without any other signal."""
        self.does(connections.close_all)

    def end(self) -> None:
        self.dies()
        self._thread.shutdown()


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that have passed for clocks."""
    passed = [1000.0]
    own = SimpleNamespace(monotonic=lambda: passed[0])
    monkeypatch.setattr(beat, "time", own)
    return passed


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch, seconds: list[float]) -> Iterator[list[Process]]:
    monkeypatch.setattr(beat.Clock, "producer", None)
    two = [Process(), Process()]
    yield two
    for each in two:
        each.end()


@pytest.fixture
def a_lease_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no lease end by time."""
    monkeypatch.setattr(beat, "LEASE_SECONDS", 100_000.0)


def let_time_pass(seconds: list[float], by: float) -> None:
    """Let time pass for the clocks and for the database."""
    seconds[0] += by
    Lease.objects.update(ticked_at=F("ticked_at") - timedelta(seconds=by))


def test_of_two_clocks_one_rings(processes: list[Process]) -> None:
    one, other = processes
    assert "doors" in one.ticks()
    assert other.ticks() == []
    assert (one.clock.holder.is_leader, other.clock.holder.is_leader) == (True, False)
    assert Lease.objects.get().host == one.clock.holder.host


def test_a_clock_that_goes_on_keeps_the_lease(processes: list[Process], seconds: list[float]) -> None:
    one, other = processes
    one.keeps()
    since = Lease.objects.get().since
    for _ in range(3):
        let_time_pass(seconds, 7)
        assert (one.keeps(), other.keeps()) == (True, False)
    assert Lease.objects.get().since == since


@pytest.mark.usefixtures("a_lease_for_ever")
def test_a_killed_clock_is_followed_as_soon_as_its_session_has_ended(processes: list[Process]) -> None:
    one, other = processes
    assert (one.keeps(), other.keeps()) == (True, False)
    one.dies()
    until(other.keeps, 30, saying="the other leads")
    assert Lease.objects.get().holder == other.clock.holder.token


@pytest.mark.usefixtures("a_lease_for_ever")
def test_a_clock_that_ends_gives_the_lease_up(processes: list[Process]) -> None:
    one, other = processes
    assert (one.keeps(), other.keeps()) == (True, False)
    one.does(one.clock.close)
    assert Lease.objects.get().holder is None
    assert other.keeps()


def test_a_clock_that_stood_still_does_not_ring_when_it_goes_on(processes: list[Process], seconds: list[float]) -> None:
    one, other = processes
    one.ticks()
    let_time_pass(seconds, 11)
    assert "sweep" not in other.ticks()
    assert other.clock.holder.is_leader
    one.clock._renew_at = seconds[0] + 1  # it continues in the middle of its work
    one.rung.clear()
    one.does(one.clock.tick)
    assert one.rung == []
    assert not one.keeps()


def test_a_clock_holds_itself_for_the_leader_for_less_long_than_the_others_do(
    processes: list[Process], seconds: list[float]
) -> None:
    one, other = processes
    one.keeps()
    let_time_pass(seconds, 8.1)
    assert not one.clock.holder.is_leader
    assert not other.keeps()


def test_the_lease_counts_from_before_the_statement(processes: list[Process], seconds: list[float]) -> None:
    one, _other = processes

    def slowly(execute: Callable[..., Any], *given: Any) -> Any:
        seconds[0] += 5
        return execute(*given)

    def kept_slowly() -> bool:
        with connection.execute_wrapper(slowly):
            return one.clock.holder.renew_or_take()

    one.keeps()
    assert one.does(kept_slowly)
    seconds[0] += 3.1
    assert not one.clock.holder.is_leader


@pytest.mark.usefixtures("a_lease_for_ever")
def test_a_clock_whose_session_was_lost_keeps_the_lease_with_a_new_one(processes: list[Process]) -> None:
    one, other = processes
    one.keeps()
    one.dies()
    assert one.keeps()
    assert not other.keeps()


def test_a_signal_in_the_middle_of_a_tick_leaves_the_session_alone_until_the_tick_has_ended(
    processes: list[Process],
) -> None:
    one, _other = processes
    clock = one.clock

    def signalled(_entry: Any, **_: Any) -> None:
        clock.close()  # as Celery's handler does
        raise SystemExit

    clock.apply_entry = signalled
    with pytest.raises(SystemExit):
        one.does(clock.tick)
    assert Lease.objects.get().holder == clock.holder.token
    one.does(clock.close)
    assert Lease.objects.get().holder is None


def test_the_last_tick_is_known_to_others(processes: list[Process]) -> None:
    assert beat.last_tick() is None
    before = database_now()
    processes[0].ticks()
    last = beat.last_tick()
    assert last is not None
    assert last > before
    processes[0].does(processes[0].clock.close)
    assert beat.last_tick() == last
