"""Jobs that read their members first: within budget, without overwriting, and settled after a lost answer."""

from datetime import timedelta
from threading import Thread

import pytest
from django.db import connections
from django.utils import timezone

from accessapi.errors import ServerFault
from accessapi.operations import CallClass
from accessapi.permissions import by_schedule, normalise_devices, weekly
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.intents import transitions
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.sending import send
from portal.domain.intents.transitions import Transition
from portal.domain.jobs import actions as engine
from portal.domain.jobs import bulk_executor, kinds
from portal.domain.jobs.models import Job, JobState, Part, PartState, Row, RowState
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.domain.rights.member_rights import MemberRights
from portal.rights import actions
from tests.rights.page import posted
from tests.support import jobs
from tests.support.changes import ChangesDesk
from tests.support.members import said


def odd():
    """Return rights that no one has yet."""
    area = Area.objects.order_by("pk")[0].area_id
    entry = {"area_id": area, "pass": by_schedule(weekly("03:07:00", "03:09:00", "Sunday"))}
    return {"devices_pass": {"default_mode": "option", "areas_list": [entry]}}


@pytest.fixture
def desk(make):
    here = ChangesDesk(make(members=6))
    with here.scope():
        Member.objects.update(rights=None, rights_read_at=None)
        yield here


def started(desk, count=4):
    rows = [(member.member_id, odd(), {}) for member in desk.members()[:count]]
    job = engine.prepare(kind="rights", by=desk.place.asker, rows=rows, options={"source": "test"})
    assert engine.start(by=desk.place.asker, job=job)
    return job


def sent(job):
    """Return the first request, recorded and not sent yet. A read that failed on a slow machine is repeated."""
    for _ in range(30):
        jobs.tasks.advance_job(job.pk)
        if part := Part.objects.filter(job=job).first():
            return part
        Job.objects.filter(pk=job.pk).update(blocked_until=None)
    raise AssertionError("no request was recorded")


def service(desk, job):
    """Return the members that have these rights now at the service."""
    wanted = normalise_devices(odd()["devices_pass"])
    told = [desk.at_service(row.member_id)["devices_pass"] for row in desk.rows(job)]
    return [normalise_devices(rights) == wanted for rights in told]


def test_each_unknown_member_is_read_once_and_one_request_follows(desk):
    job = started(desk)
    reads = desk.calls(5)
    jobs.run(job)
    assert (desk.calls(5) - reads, desk.calls(14), job.reads) == (4, 1, 4)
    assert service(desk, job) == [True] * 4
    assert all("devices_pass" in row.content["old"] for row in desk.rows(job))


def test_what_was_read_is_sent_while_calls_are_short_and_the_rest_later(desk, monkeypatch):
    job = started(desk)
    real, left = kinds.kind_of(job).read_member, [2]

    def short(connection, member_id):
        if not left[0]:
            raise BudgetExhausted(timezone.now() + timedelta(minutes=5), CallClass.GENERAL)
        left[0] -= 1
        real(connection, member_id)

    frugal = kinds.JobKind(**{**kinds.kind_of(job).__dict__, "read_member": short})
    monkeypatch.setitem(kinds._kinds, "rights", frugal)
    for _ in range(30):
        jobs.step(job)
        if Row.objects.filter(job=job, state=RowState.SUCCEEDED).count() == 2:
            break
    jobs.step(job)
    job.refresh_from_db()
    assert sorted(desk.rows_by_state(job)) == ["pending", "pending", "succeeded", "succeeded"]
    assert job.state == JobState.RUNNING
    assert job.due_at == job.blocked_until
    left[0] = 10
    Job.objects.filter(pk=job.pk).update(blocked_until=jobs.PAST)
    jobs.run(job)
    assert set(desk.rows_by_state(job)) == {"succeeded"}
    assert desk.calls(14) == 2


def test_rights_that_somebody_else_gave_meanwhile_are_reported(desk):
    first, second = desk.members()[:2]
    before = desk.at_service(first.member_id)["devices_pass"]
    theirs = {"default_mode": "deny_all" if before["default_mode"] != "deny_all" else "allow_all"}
    rows = [(first.member_id, odd(), {"devices_pass": before}), (second.member_id, odd(), {})]
    job = engine.prepare(kind="rights", by=desk.place.asker, rows=rows, options={"source": "test"})
    token = desk.place.service.token
    answer = desk.place.sandbox.api("PUT", f"/v1/members/{first.member_id}", {"devices_pass": theirs}, token=token)
    assert answer.status_code < 300, answer.text
    assert engine.start(by=desk.place.asker, job=job)
    jobs.run(job)
    left, done = desk.rows(job)
    assert (left.state, left.problems) == (RowState.FAILED, [["devices_pass", "meanwhile", {}]])
    assert done.state == RowState.SUCCEEDED


@pytest.mark.parametrize("arrived", [True, False])
def test_after_a_lost_answer_members_are_read_again_and_only_what_is_missing_is_sent(desk, arrived):
    job = started(desk)
    part = sent(job)
    if arrived:
        token = desk.place.service.token
        desk.place.sandbox.api("POST", "/v1/members/bulk/update", part.intent.body, token=token)
    Intent.objects.filter(pk=part.intent_id).update(state=State.SENDING, due_at=None)
    transitions.apply_transition(
        {"pk": part.intent_id, "state": State.SENDING}, Transition(State.UNCERTAIN, Reason.TIMED_OUT)
    )
    Part.objects.filter(job=job, state=PartState.READING).update(lost_at=jobs.PAST)
    desk.sync()
    calls = desk.calls(14)
    jobs.run(job)
    assert set(desk.rows_by_state(job)) == {"succeeded"}
    assert service(desk, job) == [True] * 4
    assert desk.calls(14) - calls == (0 if arrived else 1)


def test_two_jobs_never_have_one_member_under_way_at_once(desk):
    one, two = started(desk, 2), started(desk, 2)
    sent(one)
    for _ in range(2):
        jobs.tasks.advance_job(two.pk)
    assert Part.objects.filter(job=one).count() == 1
    assert Part.objects.filter(job=two).count() == 0
    jobs.run(one)
    jobs.run(two)
    assert {row.problems[0][1] for row in desk.rows(two)} == {"already"}
    assert desk.calls(14) == 1


def test_a_member_who_is_gone_fails_alone(desk):
    job = started(desk, 2)
    gone = desk.rows(job)[0].member_id
    desk.place.sandbox.api("DELETE", f"/v1/members/{gone}", token=desk.place.service.token)
    jobs.run(job)
    assert [row.state for row in desk.rows(job)] == [RowState.FAILED, RowState.SUCCEEDED]
    assert desk.rows(job)[0].problems[0][1] == "gone"


def test_two_workers_that_look_at_the_same_moment_send_one_after_the_other(desk, monkeypatch):
    one, two = started(desk, 2), started(desk, 2)
    Member.objects.update(rights={"devices_pass": {"default_mode": "deny_all"}}, rights_read_at=timezone.now())
    real, others = kinds.kind_of(one).decide_rows, []

    def beside():
        with desk.scope():
            jobs.tasks.advance_job(two.pk)
        connections.close_all()

    def slow(job, rows):
        if job.pk == one.pk:
            others.append(Thread(target=beside))
            others[0].start()
            others[0].join(0.5)
        return real(job, rows)

    monkeypatch.setitem(kinds._kinds, "rights", kinds.JobKind(**{**kinds.kind_of(one).__dict__, "decide_rows": slow}))
    sent(one)
    others[0].join()
    assert Part.objects.filter(job=two).count() == 0


def test_a_member_about_whom_a_person_has_asked_waits_and_the_editor_waits_for_a_request(desk):
    asked, other = desk.members()[:2]
    url = f"{desk.url}{other.member_id}/rights/"
    form = posted(desk.client.get(url).content.decode())
    form["devices.mode"] = "allow_all" if form["devices.mode"] == "deny_all" else "deny_all"
    job = started(desk, 2)
    mine = actions.submit_rights(
        member=asked, body={"devices_pass": {"default_mode": "deny_all"}}, read=MemberRights.of({}, None),
        by=desk.place.asker, nonce=Nonce("a-person-asked"), inline=False,
    )  # fmt: skip
    part = sent(job)
    assert [row.member_id for row in Row.objects.filter(part=part)] == [other.member_id]
    calls = desk.calls(6)
    assert "Nothing was sent: a bulk change is updating this member. Try again soon." in said(
        desk.client.post(url, dict(form.lists()))
    )
    assert desk.calls(6) == calls
    send(mine)
    jobs.run(job)
    assert desk.rows_by_state(job) == ["succeeded"] * 2


def test_a_member_who_can_never_be_read_does_not_hold_up_the_others(desk, monkeypatch):
    job = started(desk, 3)
    bad, real = desk.rows(job)[0].member_id, kinds.kind_of(job).read_member

    def read(connection, member_id):
        if member_id == bad:
            raise ServerFault("read_member", status=500)
        real(connection, member_id)

    monkeypatch.setitem(kinds._kinds, "rights", kinds.JobKind(**{**kinds.kind_of(job).__dict__, "read_member": read}))
    monkeypatch.setattr(bulk_executor, "PAUSE_AFTER_FAULT", timedelta(0))
    monkeypatch.setattr(bulk_executor, "MAX_FAULTS", 3)
    jobs.run(job)
    assert desk.rows_by_state(job) == ["failed", "succeeded", "succeeded"]
    assert desk.rows(job)[0].problems == [["", "unreadable", {}]]
    assert desk.calls(14) == 1
