"""Sending an import: nothing is lost or doubled, and every row ends with its result."""

from datetime import timedelta

import pytest
from django.db.models import F

from accessapi import limits
from portal.domain.intents.models import Intent, State
from portal.domain.intents.sending import send
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import queries, results, tasks
from portal.domain.jobs.models import Action, Halt, Job, JobState, Part, PartState, Row, RowState
from portal.domain.people.models import Member
from portal.imports import actions
from tenants.models import Staff
from tests.imports.conftest import lines
from tests.support.waiting import until

HEADINGS = ["氏名", "社員番号", "グループ", "カード番号"]


def many(desk, count, start=0, card=""):
    group = desk.groups[0].membergroup_id
    return lines(
        HEADINGS, *[[f"会員{n}", f"IMP{n:06d}", group, card and f"{card}{n}"] for n in range(start, start + count)]
    )


def present(desk, prefix="IMP"):
    return sorted(m["member_code"] for m in desk.members() if m.get("member_code", "").startswith(prefix))


def test_rows_are_created_once_and_known_here_at_once(desk):
    job = desk.imported(many(desk, 30))
    assert job.state == JobState.DONE
    assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}
    assert len(present(desk)) == 30
    assert (desk.calls(13), desk.calls(14)) == (1, 0)
    row = desk.rows(job)[0]
    assert Member.objects.get(member_id=row.member_id).member_code == "IMP000000"


def test_the_services_refusal_stands_at_its_row_with_the_code(desk):
    card = Member.objects.filter(has_card=True)[0].card_data
    group = desk.groups[0].membergroup_id
    job = desk.imported(lines(HEADINGS, ["a", "A1", group, ""], ["b", "B1", group, card], ["c", "C1", group, ""]))
    good, bad, fine = desk.rows(job)
    assert (good.state, bad.state, fine.state) == (RowState.SUCCEEDED, RowState.FAILED, RowState.SUCCEEDED)
    assert bad.code == "40901"
    assert card not in bad.detail


def test_changes_go_before_creations_and_only_what_differs_is_sent(desk, somebody):
    member, group = somebody(), desk.groups[0].membergroup_id
    job = desk.imported(lines(HEADINGS, ["新", "NEW1", group, ""], ["改名", member.member_code, "", ""]))
    assert job.state == JobState.DONE
    parts = list(Part.objects.filter(job=job).order_by("ordinal"))
    assert [part.action for part in parts] == [Action.UPDATE, Action.CREATE]
    assert parts[0].intent.body == {"members": [{"member_id": member.member_id, "member_name": "改名"}]}
    assert "改名" in {m["member_name"] for m in desk.members()}


def test_requests_are_cut_at_a_thousand_members(desk):
    desk.place.sandbox.settings(desk.place.service.tenant_id, bulk_seconds_per_member=0)
    job = desk.run(desk.started(many(desk, limits.BULK_MEMBERS_MAX + 1)), 60)
    assert [part.rows for part in Part.objects.filter(job=job).order_by("ordinal")] == [1000, 1]
    assert queries.count_rows(job).by_state(RowState.SUCCEEDED) == 1001


def test_requests_are_cut_by_the_bytes_of_their_body(desk):
    job = desk.started(many(desk, 10))
    Job.objects.filter(pk=job.pk).update(part_bytes=300)
    desk.run(job)
    parts = list(Part.objects.filter(job=job).select_related("intent"))
    assert len(parts) > 2
    import json

    for part in parts:
        assert len(json.dumps(part.intent.body, ensure_ascii=False, separators=(",", ":")).encode()) <= 300
    assert len(present(desk)) == 10


def test_repeating_every_step_doubles_nothing(desk):
    job = desk.started(many(desk, 12))
    for _ in range(3):
        tasks.advance_job(job.pk)
    assert Intent.objects.filter(target=f"import:{job.pk}").count() == 1
    intent = Intent.objects.get(target=f"import:{job.pk}")
    for _ in range(3):
        send(intent)
    assert not job_actions.start(by=desk.place.asker, job=job)
    desk.run(job)
    for _ in range(3):
        desk.step(job)
    assert len(present(desk)) == 12
    assert desk.calls(13) == 1


def lose_the_answer(job):
    """End the process between sending and recording, so that it is unknown whether the request arrived."""
    intent = Intent.objects.get(target__endswith=f":{job.pk}", state__in=[State.QUEUED, State.SENDING])
    from portal.domain.intents import transitions
    from portal.domain.intents.models import Reason
    from portal.domain.intents.transitions import Transition

    Intent.objects.filter(pk=intent.pk).update(state=State.SENDING, due_at=None)
    transitions.apply_transition(
        {"pk": intent.pk, "state": State.SENDING}, Transition(State.UNCERTAIN, Reason.TIMED_OUT)
    )
    intent.refresh_from_db()
    return intent


def readings(desk, job, times):
    """Do the readings that otherwise take a minute each."""
    for _ in range(times):
        waiting = Part.objects.filter(job=job, state=PartState.READING)
        waiting.update(lost_at="2026-01-01T00:00:00Z", read_until=F("read_until") - timedelta(seconds=61))
        desk.sync()
        desk.step(job)


def test_a_lost_answer_of_a_request_that_arrived_is_found_by_reading(desk):
    job = desk.started(many(desk, 5))
    tasks.advance_job(job.pk)
    intent = Intent.objects.get(target=f"import:{job.pk}")
    token = desk.place.service.token
    asked = desk.place.sandbox.api("POST", "/v1/members/bulk/create", intent.body, token=token).json()["request_id"]
    intent = lose_the_answer(job)
    assert intent.state == State.UNCERTAIN
    assert {row.state for row in desk.rows(job)} == {RowState.SENT}
    until(lambda: desk.place.sandbox.api("GET", f"/v1/requests/{asked}", token=token).json()["status"] == "completed")
    readings(desk, job, 1)
    assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}
    desk.run(job)
    intent.refresh_from_db()
    assert intent.state == State.SUCCEEDED
    assert len(present(desk)) == 5
    assert all(row.member_id for row in desk.rows(job))


def test_a_lost_answer_of_a_request_that_never_arrived_takes_two_readings_and_a_person(desk):
    job = desk.started(many(desk, 5))
    tasks.advance_job(job.pk)
    intent = lose_the_answer(job)
    readings(desk, job, 1)
    assert {row.state for row in desk.rows(job)} == {RowState.SENT}
    readings(desk, job, 1)
    assert {row.state for row in desk.rows(job)} == {RowState.FAILED}
    assert desk.rows(job)[0].problems[0][1] == "absent"
    desk.run(job)
    intent.refresh_from_db()
    assert (intent.state, intent.reason) == (State.FAILED, "absent")
    assert present(desk) == []
    again = actions.retry(by=desk.place.asker, job=job)
    from portal.imports import checking

    checking.check(again.pk)
    job_actions.start(by=desk.place.asker, job=again)
    desk.run(again)
    assert len(present(desk)) == 5


def test_twins_that_cannot_be_told_apart_are_left_to_a_person(desk):
    group = desk.groups[0].membergroup_id
    job = desk.started(lines(["氏名", "グループ"], ["同姓 同名", group], ["同姓 同名", group]))
    tasks.advance_job(job.pk)
    body = {"member_name": "同姓 同名", "membergroup_id": group}
    desk.place.sandbox.api("POST", "/v1/members", body, token=desk.place.service.token)
    lose_the_answer(job)
    readings(desk, job, 2)
    assert {row.state for row in desk.rows(job)} == {RowState.UNCERTAIN}
    assert job_actions.decide(by=desk.place.asker, job=job, rows=[desk.rows(job)[0].pk], applied=True) == 1
    assert job_actions.decide(by=desk.place.asker, job=job, rows=None, applied=False) == 1
    assert [row.state for row in desk.rows(job)] == [RowState.SUCCEEDED, RowState.FAILED]


def test_a_request_that_fails_half_way_keeps_its_results_and_the_tail_is_read(desk):
    desk.place.sandbox.settings(desk.place.service.tenant_id, bulk_fail_after=3)
    job = desk.started(many(desk, 8))
    for _ in range(20):
        desk.step(job)
        if Part.objects.filter(job=job, state=PartState.READING).exists():
            break
    states = [row.state for row in desk.rows(job)]
    assert states == [RowState.SUCCEEDED] * 3 + [RowState.SENT] * 5
    desk.place.sandbox.settings(desk.place.service.tenant_id, bulk_fail_after=None)
    readings(desk, job, 1)
    states = [row.state for row in desk.rows(job)]
    assert states == [RowState.SUCCEEDED] * 3 + [RowState.FAILED] * 5
    assert len(present(desk)) == 3


def test_changes_whose_request_fails_half_way_are_sent_again(desk):
    members = list(Member.objects.exclude(member_code="").order_by("pk"))
    desk.place.sandbox.settings(desk.place.service.tenant_id, bulk_fail_after=1)
    job = desk.started(lines(HEADINGS, *[[f"改名{n}", m.member_code, "", ""] for n, m in enumerate(members)]))
    for _ in range(20):
        desk.step(job)
        if Part.objects.filter(job=job, state=PartState.READING).exists():
            break
    desk.place.sandbox.settings(desk.place.service.tenant_id, bulk_fail_after=None)
    readings(desk, job, 1)
    desk.run(job)
    assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}
    assert {m["member_name"] for m in desk.members()} == {f"改名{n}" for n in range(len(members))}


@pytest.mark.parametrize("status", [413])
def test_a_request_that_is_too_large_goes_on_in_halves(desk, status):
    job = desk.started(many(desk, 9))
    tasks.advance_job(job.pk)
    intent = Intent.objects.get(target=f"import:{job.pk}")
    refuse(intent, status)
    desk.run(job)
    assert sorted(part.rows for part in Part.objects.filter(job=job)) == [4, 5, 9]
    assert len(present(desk)) == 9


def refuse(intent, status, code="", detail=""):
    from portal.domain.intents import transitions
    from portal.domain.intents.models import Reason
    from portal.domain.intents.transitions import Transition

    verdict = Transition(State.FAILED, Reason.REFUSED, http_status=status, code=code, detail=detail)
    assert transitions.apply_transition({"pk": intent.pk, "state": State.QUEUED}, verdict)


def test_a_refused_connection_stops_the_import_and_it_goes_on_later(desk):
    job = desk.started(many(desk, 4))
    tasks.advance_job(job.pk)
    refuse(Intent.objects.get(target=f"import:{job.pk}"), 401)
    job.refresh_from_db()
    assert (job.state, job.halt) == (JobState.STOPPED, Halt.CONNECTION)
    assert {row.state for row in desk.rows(job)} == {RowState.STOPPED}
    assert job_actions.continue_job(by=desk.place.asker, job=job)
    desk.run(job)
    assert len(present(desk)) == 4


def test_a_refused_request_blames_only_the_members_it_names(desk):
    job = desk.started(many(desk, 4))
    tasks.advance_job(job.pk)
    refuse(Intent.objects.get(target=f"import:{job.pk}"), 400, "40002", "members.2.card_data: too long")
    desk.run(job)
    assert [row.state for row in desk.rows(job)] == [RowState.SUCCEEDED] * 2 + [RowState.FAILED, RowState.SUCCEEDED]
    assert desk.rows(job)[2].code == "40002"


def test_a_person_who_loses_the_right_sends_nothing_more(desk):
    job = desk.started(many(desk, 4))
    Staff.objects.filter(user=desk.place.owner).update(is_active=False)
    tasks.advance_job(job.pk)
    send(Intent.objects.get(target=f"import:{job.pk}"))
    job.refresh_from_db()
    assert (job.state, job.halt) == (JobState.STOPPED, Halt.RIGHTS)
    assert desk.calls(13) == 0


def test_stopping_withdraws_what_has_not_left(desk):
    job = desk.started(many(desk, 4))
    tasks.advance_job(job.pk)
    assert job_actions.stop(by=desk.place.asker, job=job)
    job.refresh_from_db()
    assert (job.state, job.halt) == (JobState.STOPPED, Halt.PERSON)
    assert desk.calls(13) == 0
    assert not job_actions.stop(by=desk.place.asker, job=job)


def test_stopping_follows_what_has_left_to_its_end(desk):
    job = desk.started(many(desk, 4))
    Job.objects.filter(pk=job.pk).update(part_rows=2)
    tasks.advance_job(job.pk)
    send(Intent.objects.get(target=f"import:{job.pk}"))
    assert job_actions.stop(by=desk.place.asker, job=job)
    desk.run(job)
    assert [row.state for row in desk.rows(job)] == [RowState.SUCCEEDED] * 2 + [RowState.STOPPED] * 2


def test_a_lost_bell_and_a_failed_follow_up_are_made_good(desk, monkeypatch):
    from portal.domain.intents import handlers

    job = desk.started(many(desk, 4))
    monkeypatch.setitem(handlers._handlers, "bulk_create_members", handlers.Handler())
    for _ in range(10):
        desk.step(job)
    assert {row.state for row in desk.rows(job)} == {RowState.SENT}
    assert Part.objects.get(job=job).state == PartState.READING
    readings(desk, job, 1)
    desk.run(job)
    assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}
    assert len(present(desk)) == 4


def test_one_import_waits_for_the_other(desk):
    first, second = desk.checked(many(desk, 3)), desk.checked(many(desk, 3))
    job_actions.start(by=desk.place.asker, job=first)
    Job.objects.filter(pk=first.pk).update(started_at="2026-01-01T00:00:00Z")
    job_actions.start(by=desk.place.asker, job=second)
    tasks.advance_job(second.pk)
    assert not Part.objects.filter(job=second).exists()
    desk.run(first)
    desk.run(second)
    assert len(present(desk)) == 3
    assert desk.rows(second)[0].problems == [["member_code", "appeared", {}]]


def test_a_row_is_sent_again_by_one_import_only(desk):
    card, group = Member.objects.filter(has_card=True)[0].card_data, desk.groups[0].membergroup_id
    job = desk.imported(lines(["氏名", "グループ", "カード番号"], ["a", group, card]))
    from portal.imports import checking

    one, two = (actions.retry(by=desk.place.asker, job=job) for _ in range(2))
    for each in (one, two):
        checking.check(each.pk)
        each.refresh_from_db()
        assert job_actions.start(by=desk.place.asker, job=each)
        desk.run(each)
    assert desk.rows(one)[0].code == "40901"
    assert desk.rows(two)[0].problems == [["", "retried_elsewhere", {}]]
    assert desk.calls(13) == 2


def test_a_row_that_went_on_after_all_is_not_sent_by_its_retry(desk):
    from portal.imports import checking

    job = desk.started(many(desk, 3))
    tasks.advance_job(job.pk)
    job_actions.stop(by=desk.place.asker, job=job)
    job.refresh_from_db()
    again = actions.retry(by=desk.place.asker, job=job)
    checking.check(again.pk)
    assert job_actions.continue_job(by=desk.place.asker, job=job)
    assert job_actions.start(by=desk.place.asker, job=again)
    desk.run(job)
    desk.run(again)
    assert len(present(desk)) == 3
    assert {row.state for row in desk.rows(again)} == {RowState.STOPPED}
    assert {row.problems[0][1] for row in desk.rows(again)} == {"retried_elsewhere"}
    again.refresh_from_db()
    assert actions.retry(by=desk.place.asker, job=again) is None
    assert not job_actions.continue_job(by=desk.place.asker, job=again)


def test_readings_are_a_minute_apart(desk):
    job = desk.started(many(desk, 2))
    tasks.advance_job(job.pk)
    lose_the_answer(job)
    part = Part.objects.get(job=job)
    assert results._list_needed_since(part) == part.lost_at + timedelta(seconds=5)
    desk.sync()
    desk.step(job)
    part.refresh_from_db()
    assert part.readings == 0
    Part.objects.filter(job=job).update(lost_at="2026-01-01T00:00:00Z")
    desk.sync()
    desk.step(job)
    part.refresh_from_db()
    assert (part.readings, part.state) == (1, PartState.READING)
    assert results._list_needed_since(part) == part.read_until + timedelta(seconds=60)
    assert Row.objects.filter(job=job, state=RowState.SENT).count() == 2
