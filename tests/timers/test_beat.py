"""The clock notifies workers where something is due, and does nothing else."""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import DatabaseError, connection

from portal.base.storage.models import StoredFile
from portal.base.timers import beat
from portal.base.timers.celery_app import app
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.models import TimerRun
from portal.base.timers.timer_registry import TIMERS
from portal.domain.alerts.models import DetectionState
from portal.domain.events import MirrorKind
from portal.domain.intents.models import Intent, State
from portal.domain.intents.recording import Command
from portal.domain.intents.tasks import CHECK_SECONDS
from portal.domain.jobs.file_executor import RETENTION
from portal.domain.jobs.models import ExportPart, Job, JobState
from portal.domain.sync.models import MirrorState, SharedReading
from portal.domain.visits.models import Visit
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.places import Place, fresh_nonce
from tests.support.rounds import round_of


def group_asked_for(place: Place) -> Intent:
    from portal.domain.intents.actions import submit

    return submit(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="create_membergroup",
            title="Create group",
            body={"membergroup_name": "Sales"},
        ),
        by=place.asker,
        nonce=fresh_nonce(),
    )


def queued(place: Place) -> None:
    intent = group_asked_for(place)
    Intent.objects.filter(pk=intent.pk).update(state=State.QUEUED, due_at=ClockTime(), woken_at=None)


def too_late(place: Place) -> None:
    intent = group_asked_for(place)
    Intent.objects.filter(pk=intent.pk).update(
        state=State.QUEUED, deadline=database_now() - timedelta(seconds=1), woken_at=ClockTime(), due_at=None
    )


def rung_for_and_not_heard(place: Place) -> None:
    intent = group_asked_for(place)
    Intent.objects.filter(pk=intent.pk).update(
        state=State.QUEUED, due_at=ClockTime(), woken_at=database_now() - timedelta(seconds=6)
    )


def left_by_a_dead_process(place: Place) -> None:
    intent = group_asked_for(place)
    Intent.objects.filter(pk=intent.pk).update(
        state=State.SENDING, claimed_at=database_now() - timedelta(hours=1), due_at=None
    )


def job(place: Place) -> None:
    Job.objects.create(kind="import", permission="", state=JobState.RUNNING, due_at=ClockTime(), by=place.asker.user)


def code_that_must_die(place: Place) -> None:
    now = database_now()
    Visit.objects.create(
        guest_name="佐藤 花子", name_key="佐藤花子", use_date_start=now, use_date_end=now, cut_due_at=ClockTime()
    )


def old_file(place: Place) -> None:
    job = Job.objects.create(
        kind="log", permission="", state=JobState.DONE, by=place.asker.user, finished_at=database_now() - 2 * RETENTION
    )
    file = StoredFile.objects.create(path="export")
    ExportPart.objects.create(job=job, number=1, rows=1, size=1, place="", last=True, file=file)


def watched(place: Place) -> None:
    DetectionState.objects.create(due_at=database_now() + timedelta(minutes=1))


def not_looked_at_for_alerts(place: Place) -> None:
    DetectionState.objects.update(due_at=database_now())


def not_watched_for_alerts(place: Place) -> None:
    DetectionState.objects.all().delete()


def list_to_be_read(place: Place) -> None:
    MirrorState.objects.create(kind=MirrorKind.AREAS, due_at=ClockTime())


def round_to_be_begun(place: Place) -> None:
    TimerRun.objects.create(name="doors", due_at=database_now())


def answer_that_nobody_waits_for(place: Place) -> None:
    SharedReading.objects.create(key="k", until=database_now() - timedelta(minutes=1))


def test_every_timer_can_be_rung() -> None:
    assert TIMERS.keys() == app.conf.beat_schedule.keys()
    assert app.conf.beat_scheduler == "portal.base.timers.beat:Clock"


@pytest.fixture
def calm(place: Place) -> Place:
    """Return a tenant whose alerts were checked a moment ago."""
    with tenant_scope(place.tenant):
        watched(place)
    return place


@pytest.mark.parametrize("timer", list(TIMERS))
@pytest.mark.usefixtures("calm")
def test_where_nothing_is_due_nobody_is_rung_for(timer: str) -> None:
    assert not list(beat.timers_with_work((timer,)))


@pytest.mark.parametrize(
    ("timer", "due"),
    [
        ("sweep", queued),
        ("sweep", too_late),
        ("sweep", rung_for_and_not_heard),
        ("sweep", left_by_a_dead_process),
        ("jobs", job),
        ("codes_that_must_die", code_that_must_die),
        ("mirror", list_to_be_read),
        ("mirror", answer_that_nobody_waits_for),
        ("doors", round_to_be_begun),
        ("alerts", not_looked_at_for_alerts),
        ("alerts", not_watched_for_alerts),
    ],
)
def test_what_is_due_is_rung_for_whichever_tenant_has_it(
    make: Callable[..., Place], timer: str, due: Callable[[Place], None]
) -> None:
    place = make()
    with tenant_scope(place.tenant):
        watched(place)
        due(place)
    assert list(beat.timers_with_work(tuple(TIMERS))) == [timer]


@pytest.mark.usefixtures("place")
def test_when_the_question_fails_the_bells_ring() -> None:
    with connection.cursor() as cursor, contextlib.suppress(DatabaseError):
        cursor.execute("SELECT 1 / 0")  # from now on it refuses everything
    assert list(beat.timers_with_work(("sweep", "jobs"))) == ["sweep", "jobs"]


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what clocks notify workers of, in place of the broker."""
    found: list[str] = []
    monkeypatch.setattr(beat.Clock, "producer", None)
    monkeypatch.setattr(beat.Clock, "apply_entry", lambda clock, entry, **_: found.append(entry.name))
    return found


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that have passed for clocks only."""
    seconds = [1000.0]
    own = SimpleNamespace(monotonic=lambda: seconds[0])
    monkeypatch.setattr(beat, "time", own)
    return seconds


@pytest.mark.usefixtures("place", "rung")
def test_the_clock_wakes_only_when_a_timer_comes_and_asks_for_all_of_them_at_once(passed: list[float]) -> None:
    clock, looks = beat.Clock(app), 0
    end = passed[0] + 10
    while passed[0] < end:
        passed[0] += clock.tick()
        looks += 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(generic_plans + custom_plans), sum(custom_plans) FROM pg_prepared_statements")
        assert (looks, cursor.fetchone()) == (10 / CHECK_SECONDS, (10 / CHECK_SECONDS, 0))


def test_a_timer_that_had_work_is_looked_at_again_soon(place: Place, passed: list[float], rung: list[str]) -> None:
    clock = beat.Clock(app)
    assert TIMERS["job_files"].every > 60
    with tenant_scope(place.tenant):
        old_file(place)
    for _ in range(4 * 11):
        passed[0] += clock.tick()
    assert rung.count("job_files") == 3


@pytest.mark.usefixtures("calm")
def test_rounds_that_never_ran_are_due_when_a_clock_begins_to_lead(passed: list[float], rung: list[str]) -> None:
    beat.Clock(app).tick()
    assert set(rung) == {name for name, timer in TIMERS.items() if timer.is_in_rounds}
    assert set(rung) == set(TimerRun.objects.values_list("name", flat=True))


@pytest.mark.usefixtures("place")
def test_a_round_is_due_by_its_last_one_and_not_by_the_start_of_a_clock(passed: list[float], rung: list[str]) -> None:
    round_of("log_months")
    beat.Clock(app).tick()
    assert "doors" in rung
    assert "log_months" not in rung
