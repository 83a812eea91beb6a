"""How often the list is read after a lost answer to a bulk request: as often as proof needs, once for all rows."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.intents import sending, transitions
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.transitions import Transition
from portal.domain.jobs import tasks as job_tasks
from portal.domain.jobs.models import Part, PartState, RowState
from portal.domain.sync import schedule, tasks
from portal.domain.sync.models import MirrorState, SyncRun
from tenants.scope import tenant_scope
from tests.imports.conftest import Desk, lines

LIST_MEMBERS = 3


@pytest.fixture
def job(desk):
    """Return an import whose request never arrived, which the portal cannot know."""
    MirrorState.objects.exclude(kind=MirrorKind.MEMBERS).update(due_at=None)
    group = desk.groups[0].membergroup_id
    job = desk.started(lines(["氏名", "グループ"], *[[f"会員{n}", group] for n in range(20)]))
    job_tasks.advance_job(job.pk)
    lost = Intent.objects.filter(target=f"import:{job.pk}")
    lost.update(state=State.SENDING, due_at=None)
    transitions.apply_transition(
        {"pk": lost.get().pk, "state": State.SENDING}, Transition(State.UNCERTAIN, Reason.TIMED_OUT)
    )
    return job


def rounds(desk, job, times=4):
    """Run the workers while a job waits. Return how often the list was read."""
    before = desk.calls(LIST_MEMBERS)
    for _ in range(times):
        desk.step(job)
        tasks.read_due()
    return desk.calls(LIST_MEMBERS) - before


def let_pass(job, seconds):
    """Move the job's times into the past by so many seconds."""
    by = timedelta(seconds=seconds)
    Part.objects.filter(job=job).update(lost_at=F("lost_at") - by, read_until=F("read_until") - by)
    MirrorState.objects.update(as_of=F("as_of") - by, due_at=F("due_at") - by)


def test_the_list_is_read_as_often_as_proof_needs(desk, job):
    assert rounds(desk, job) == 0  # the service may still be at work
    let_pass(job, 6)
    assert rounds(desk, job) == 1
    let_pass(job, 40)
    assert rounds(desk, job) == 0  # two readings, a minute apart
    let_pass(job, 21)
    assert rounds(desk, job) == 1
    assert {row.state for row in desk.rows(job)} == {RowState.FAILED}


def test_a_long_reading_that_waits_for_calls_goes_on_with_calls_for_what_is_awaited(desk, job):
    let_pass(job, 6)
    run = SyncRun.objects.create(kind=MirrorKind.MEMBERS, started_at="2026-01-01T00:00:00Z")
    state = MirrorState.objects.filter(kind=MirrorKind.MEMBERS)
    state.update(due_at="2099-01-01T00:00:00Z")
    since = timezone.now()
    assert schedule.request_reading_since(desk.place.tenant, MirrorKind.MEMBERS, since) is None
    assert (state.get().awaited, state.get().due_at <= timezone.now()) == (True, True)
    state.update(due_at="2099-01-01T00:00:00Z")
    assert schedule.request_reading_since(desk.place.tenant, MirrorKind.MEMBERS, since) is None
    assert rounds(desk, job) == 0, "and is left in peace then"
    SyncRun.objects.filter(pk=run.pk).update(state=SyncRun.State.DONE)
    assert rounds(desk, job) == 1
    assert Part.objects.get(job=job).state == PartState.READING


def test_all_who_wait_share_one_reading(desk):
    MirrorState.objects.exclude(kind=MirrorKind.MEMBERS).update(due_at=None)
    since = MirrorState.objects.get(kind=MirrorKind.MEMBERS).as_of + timedelta(seconds=0.01)
    before = desk.calls(LIST_MEMBERS)
    for _ in range(5):
        assert schedule.request_reading_since(desk.place.tenant, MirrorKind.MEMBERS, since) is None
    tasks.read_due()
    tasks.read_due()
    assert desk.calls(LIST_MEMBERS) - before == 1
    assert schedule.request_reading_since(desk.place.tenant, MirrorKind.MEMBERS, since) >= since


@pytest.mark.soak
def test_twenty_rows_that_never_arrived_at_a_tenant_of_thousands_cost_two_readings(make):
    place = make(members=2_057)
    with tenant_scope(place.tenant):
        desk = Desk(place)
        desk.sync()
        MirrorState.objects.exclude(kind=MirrorKind.MEMBERS).update(due_at=None)
        place.sandbox.fault("drop_before", "bulk_create_members", place.service.tenant_id, count=99)
        group = desk.groups[0].membergroup_id
        job = desk.started(lines(["氏名", "グループ"], *[[f"会員{n}", group] for n in range(20)]))
        job_tasks.advance_job(job.pk)
        for intent in Intent.objects.filter(target=f"import:{job.pk}"):
            sending.send(intent)
        before = desk.calls(LIST_MEMBERS)
        for _ in range(8):
            rounds(desk, job)
            let_pass(job, 70)
        assert {row.state for row in desk.rows(job)} == {RowState.FAILED}
        assert desk.calls(LIST_MEMBERS) - before == 2 * 3
