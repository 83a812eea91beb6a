"""The timers, with many tenants due at one moment."""

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

from bench.figures import Figure
from bench.ground import Ground, say
from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.alerts.models import Alert, DetectionState, Severity
from portal.domain.events import MirrorKind
from portal.domain.sync import tasks
from portal.domain.sync.models import MirrorState
from tenants.models import Connection, Tenant
from tenants.scope import across_tenants
from tests.support.house import Process
from tests.support.waiting import until

_MOST = 900.0


def tick(ground: Ground) -> list[Figure]:
    """Measure how long it takes to send the messages of all due tenants to the broker."""
    count = ground.sizes.due
    say(f"a tick with {count:,} tenants due")
    with _tenants(ground, count) as ids, across_tenants("the bench makes tenants due"):
        now = database_now()
        MirrorState.objects_across_tenants.bulk_create(
            MirrorState(tenant_id=pk, kind=MirrorKind.MEMBERS, due_at=now) for pk in ids
        )
        started = time.perf_counter()
        rung = tasks.check_due()
        took = time.perf_counter() - started
        MirrorState.objects_across_tenants.filter(tenant__in=ids).update(due_at=None)
    if rung < count:
        raise RuntimeError(f"the tick rang for {rung} of {count}")
    again = ground.sizes.again("tick", due=count)
    return [Figure(f"scheduler tick, {count:,} tenants due", f"{took:.3f} s", "", took, ("<=", 1), again)]


def watch(ground: Ground) -> list[Figure]:
    """Measure the check for alerts of many due tenants: first without alerts, then each with an alert that is over."""
    count, sets = ground.sizes.due, ground.sizes.worker_sets
    say(f"{count:,} tenants due for alerts, {sets} worker sets of 4 and 4")
    with _tenants(ground, count) as ids, _workers(ground, sets), across_tenants("the bench looks at its tenants"):
        later, now = database_now() + timedelta(hours=1), database_now()
        DetectionState.objects_across_tenants.bulk_create(
            (DetectionState(tenant_id=pk) for pk in ids), ignore_conflicts=True
        )
        settled = _seconds(lambda: not DetectionState.objects_across_tenants.filter(due_at__lte=ClockTime()).exists())
        DetectionState.objects_across_tenants.update(due_at=later)
        Alert.objects_across_tenants.bulk_create(
            Alert(tenant_id=pk, kind="offline", subject="pass_controller:D", severity=Severity.WARNING, weight=1,
                  began_at=now, last_at=now)
            for pk in ids
        )  # fmt: skip
        restless = _seconds(lambda: not Alert.objects_across_tenants.filter(ended_at=None).exists())
        DetectionState.objects_across_tenants.filter(tenant__in=ids).update(due_at=later)
    again = ground.sizes.again("watch", due=count, worker_sets=sets)
    label = f"{count:,} tenants due for alerts, {sets} worker set{'s' if sets > 1 else ''}"
    return [
        Figure(f"{label}, nothing due", f"{settled:.1f} s", "", settled, ("<=", 60), again),
        Figure(f"{label}, an alert of each is over", f"{restless:.1f} s", command=again),
    ]


def _seconds(done: Callable[[], bool]) -> float:
    """Make all tenants due, wait until everything is done, and return the seconds since."""
    DetectionState.objects_across_tenants.update(due_at=ClockTime(), woken_at=None)
    started, next_report = time.perf_counter(), 5.0
    while not done():
        if time.perf_counter() - started > next_report:
            late = next(each for each in timer_registry.lags() if each.name == "alerts")
            say(f"  lag {late.seconds:.0f} s")
            next_report += 5
        if time.perf_counter() - started > _MOST:
            raise RuntimeError(f"not done within {_MOST:.0f} s")
        time.sleep(0.1)
    return time.perf_counter() - started


@contextlib.contextmanager
def _tenants(ground: Ground, count: int) -> Iterator[list[int]]:
    """Create connected tenants of which nothing is due, and yield their ids."""
    first = Tenant.objects.count()
    made = Tenant.objects.bulk_create(
        Tenant(slug=f"due-{number}", name=f"Due {number}", environment=ground.environment)
        for number in range(first, first + count)
    )
    ids = [each.pk for each in made]
    with across_tenants("the bench connects its tenants"):
        Connection.objects_across_tenants.bulk_create(
            Connection(tenant_id=pk, environment=ground.environment, state=Connection.State.CONNECTED, access_token="t")
            for pk in ids
        )
    yield ids
    with across_tenants("the bench puts its tenants away"):
        Connection.objects_across_tenants.filter(tenant__in=ids).update(state=Connection.State.REVOKED)


@contextlib.contextmanager
def _workers(ground: Ground, sets: int) -> Iterator[None]:
    """Run worker sets as the README starts them, in place of the system's own."""
    house = ground.house
    for each in (house.urgent, house.steady):
        each.stop()
    programs = house.programs()
    started = [
        Process(programs.worker(f"{name}{number}", queues, 4))
        for number in range(sets)
        for name, queues in (("urgent", "doors,interactive"), ("steady", "bulk,sync"))
    ]
    for each in started:
        each.start()
    house.until_heard()
    until(lambda: not house.redis().llen("sync"), saying="nothing waits for the workers")
    yield
    for each in started:
        each.stop()
    house.mend()
