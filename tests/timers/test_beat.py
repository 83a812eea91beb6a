"""The clock rings where something is due, and is still where nothing is."""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import DatabaseError, connection

from portal.core.intents.models import Intent
from portal.core.intents.states import State
from portal.core.intents.sweeping import SWEEP_SECONDS
from portal.core.jobs.models import Job
from portal.core.jobs.states import JobState
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState, SharedReading
from portal.core.timers import beat
from portal.core.timers.clock import ClockTime, database_now
from portal.core.visits.models import Visit
from portal.site.celery import app
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.places import Place, fresh_nonce


def group_asked_for(place: Place) -> Intent:
    from portal.core.intents.actions import submit

    return submit(
        by=place.asker, permission=Permission.GROUPS_EDIT, operation="create_membergroup", title="Create group",
        body={"membergroup_name": "Sales"}, nonce=fresh_nonce(),
    )  # fmt: skip


def queued(place: Place) -> None:
    intent = group_asked_for(place)
    Intent.objects.filter(pk=intent.pk).update(state=State.QUEUED, due_at=ClockTime(), rung_at=None)


def too_late(place: Place) -> None:
    intent = group_asked_for(place)
    Intent.objects.filter(pk=intent.pk).update(
        state=State.QUEUED, deadline=database_now() - timedelta(seconds=1), rung_at=ClockTime(), due_at=None
    )


def rung_for_and_not_heard(place: Place) -> None:
    intent = group_asked_for(place)
    Intent.objects.filter(pk=intent.pk).update(
        state=State.QUEUED, due_at=ClockTime(), rung_at=database_now() - timedelta(seconds=6)
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


def list_to_be_read(place: Place) -> None:
    MirrorState.objects.create(kind=Kind.AREAS, due_at=ClockTime())


def answer_that_nobody_waits_for(place: Place) -> None:
    SharedReading.objects.create(key="k", until=database_now() - timedelta(minutes=1))


def test_every_question_belongs_to_a_timer() -> None:
    assert beat.WORK.keys() <= app.conf.beat_schedule.keys()
    assert app.conf.beat_scheduler == "portal.core.timers.beat:Clock"


@pytest.mark.parametrize("timer", list(beat.WORK))
@pytest.mark.usefixtures("place")
def test_where_nothing_is_due_nobody_is_rung_for(timer: str) -> None:
    assert not list(beat.due((timer,)))


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
    ],
)
def test_what_is_due_is_rung_for_whichever_tenant_has_it(
    make: Callable[..., Place], timer: str, due: Callable[[Place], None]
) -> None:
    place = make()
    with tenant_scope(place.tenant):
        due(place)
    assert list(beat.due(tuple(beat.WORK))) == [timer]


def test_a_timer_that_nobody_asks_about_always_rings() -> None:
    assert list(beat.due(("doors",))) == ["doors"]


@pytest.mark.usefixtures("place")
def test_when_the_database_cannot_say_the_bells_ring() -> None:
    with connection.cursor() as cursor, contextlib.suppress(DatabaseError):
        cursor.execute("SELECT 1 / 0")  # from now on it refuses everything
    assert list(beat.due(("sweep", "jobs"))) == ["sweep", "jobs"]


@pytest.mark.usefixtures("place")
def test_the_clock_wakes_only_when_a_timer_comes_and_asks_for_all_of_them_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed, looks = [0.0], 0
    monkeypatch.setattr(beat, "time", SimpleNamespace(monotonic=lambda: passed[0]))
    clock = beat.Clock(app, schedule_filename=str(tmp_path / "schedule"))
    while passed[0] < 10:
        passed[0] += clock.tick()
        looks += 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(generic_plans + custom_plans), sum(custom_plans) FROM pg_prepared_statements")
        assert (looks, cursor.fetchone()) == (10 / SWEEP_SECONDS, (10 / SWEEP_SECONDS, 0))
