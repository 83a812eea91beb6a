"""A manager changes many members at once: preview, sending and undo. Other people's changes are not overwritten."""

import html
import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from portal.domain.jobs import tasks
from portal.domain.jobs.models import Halt, Job, JobState, RowState
from portal.domain.people.models import Group, Member
from portal.domain.sync import local_writes
from tenants.models import AuditEntry, Staff
from tests.support import jobs
from tests.support.changes import ChangesDesk
from tests.support.members import said


@pytest.fixture
def desk(make):
    return ChangesDesk(make(members=12))


@pytest.fixture
def large(make):
    return ChangesDesk(make(members=230))


def test_suspending_resuming_and_undoing_keep_the_former_end(desk):
    first, second, third = desk.plain()[:3]
    end = timezone.now().replace(microsecond=0) + timedelta(days=90)
    desk.changed("extend", [first], how="to", day=f"{end:%Y-%m-%d}")
    former = desk.known(first).use_date_end
    assert former is not None

    job = desk.prepared("suspend", [first, second, third])
    page = desk.page(job)
    assert "Suspend 3 members" in page
    assert "Change 3 members" in page
    assert f"{timezone.localtime(former):%Y-%m-%d}" in page
    assert "You can undo this: previous values are kept." in page
    assert desk.calls(14) == 1
    desk.done(job)
    assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}
    for member in (first, second, third):
        assert datetime.fromisoformat(desk.at_service(member.member_id)["use_date_end"]) <= timezone.now()
        assert desk.known(member).use_date_end <= timezone.now()
    assert "nothing to change" in said(desk.ask("suspend", [first])).lower()

    desk.changed("resume", [first, second], end="former")
    assert desk.known(first).use_date_end == former
    assert desk.known(second).use_date_end is None
    assert desk.at_service(second.member_id).get("use_date_end") is None

    answer = desk.post(job, "undo")
    assert "Undo: Suspend 3 members" in said(answer)
    with desk.scope():
        undo = Job.objects.order_by("-pk")[0]
    desk.done(undo)
    states = {row.member_id: (row.state, row.problems) for row in desk.rows(undo)}
    assert states[third.member_id][0] == RowState.SUCCEEDED
    assert desk.known(third).use_date_end is None
    # The two resumed members already have the former value: nothing is sent for them.
    assert states[first.member_id] == (RowState.SUCCEEDED, [["", "already", {}]])
    assert "Undone" in desk.page(job)
    with desk.scope():
        assert {"change.prepared", "change.started"} <= set(AuditEntry.objects.values_list("action", flat=True))


def test_all_that_match_are_moved_across_pages_and_those_already_there_are_left_out(large):
    with large.scope():
        groups = list(Group.objects.order_by("pk"))
        there = Member.objects.filter(membergroup_id=groups[0].membergroup_id, gone_at__isnull=True).count()
        total = Member.objects.filter(gone_at__isnull=True).count()
    page = html.unescape(large.get(size=25))
    assert f'formaction="{large.changes("new/move/")}"' in page
    job = large.prepared("move", match="", group=groups[0].membergroup_id)
    assert (job.size, job.unchanged) == (total - there, there)
    shown = large.page(job)
    assert f"Change {total - there} members" in shown
    assert f"{there} already have this" in shown
    assert groups[0].membergroup_name in shown
    file = b"".join(large.client.get(large.changes(f"{job.pk}/?export=csv")).streaming_content).decode("utf-8-sig")
    assert len(file.splitlines()) == total - there + 1
    large.done(job)
    with large.scope():
        assert Member.objects.filter(membergroup_id=groups[0].membergroup_id, gone_at__isnull=True).count() == total
    assert large.calls(14) == 1


def test_the_page_of_a_change_asks_the_database_little(large, django_assert_max_num_queries):
    job = large.prepared("suspend", match="")
    with django_assert_max_num_queries(26):
        large.client.get(large.changes(f"{job.pk}/"))
    with django_assert_max_num_queries(20):
        large.client.get(large.changes())


def test_deleting_needs_the_number_or_the_word_typed(desk):
    gone, kept = desk.plain()[:2]
    job = desk.prepared("delete", [gone])
    page = desk.page(job)
    assert "You cannot undo this" in page
    assert "type 1 or “delete”" in page
    for typed in ("", "2", "yes"):
        answer = desk.client.post(desk.changes(f"{job.pk}/start/"), {"typed": typed})
        assert answer.status_code == 422
        assert "Nothing was sent" in said(answer)
    desk.done(job, typed="１")
    assert desk.rows(job)[0].state == RowState.SUCCEEDED
    assert desk.known(gone).gone_at is not None
    assert desk.known(kept).gone_at is None
    ids = {each["member_id"] for each in desk.place.sandbox.api(
        "GET", "/v1/members", token=desk.place.service.token).json()["members"]}  # fmt: skip
    assert gone.member_id not in ids
    assert kept.member_id in ids
    assert "Undo" not in desk.page(job).replace("Undone", "")
    assert "Nothing was undone: this cannot be undone, or was undone already. See the result below." in said(
        desk.post(job, "undo")
    )


def test_deleting_who_is_gone_already_is_done(desk):
    gone = desk.plain()[0]
    job = desk.prepared("delete", [gone])
    token = desk.place.service.token
    assert desk.place.sandbox.api("DELETE", f"/v1/members/{gone.member_id}", token=token).status_code < 300
    desk.done(job, typed="delete")
    assert desk.rows(job)[0].state == RowState.SUCCEEDED


def test_what_somebody_else_changed_meanwhile_is_reported_and_left_alone(desk):
    first, second = desk.plain()[:2]
    job = desk.prepared("suspend", [first, second])
    theirs = timezone.now().replace(microsecond=0) + timedelta(days=400)
    with desk.scope():
        local_writes.apply_member_write(desk.place.tenant, first.member_id, {"use_date_end": theirs.isoformat()})
    desk.done(job)
    left, done = desk.rows(job)
    assert (left.state, left.problems) == (RowState.FAILED, [["use_date_end", "meanwhile", {}]])
    assert done.state == RowState.SUCCEEDED
    assert desk.known(first).use_date_end == theirs
    page = desk.page(job)
    assert "Skipped: changed by someone else in the meantime." in page
    assert "Retry 1 row" in page
    again = desk.post(job, "retry")
    assert f"{timezone.localtime(theirs):%Y-%m-%d}" in said(again)
    with desk.scope():
        retry = Job.objects.order_by("-pk")[0]
    desk.done(retry)
    assert desk.known(first).use_date_end < timezone.now()
    assert desk.post(job, "retry").redirect_chain[-1][0].endswith(f"/{job.pk}/")


def test_a_member_whom_the_service_refuses_fails_alone(desk):
    first, second = desk.plain()[:2]
    job = desk.prepared("suspend", [first, second])
    token = desk.place.service.token
    desk.place.sandbox.api("DELETE", f"/v1/members/{first.member_id}", token=token)
    desk.done(job)
    assert [row.state for row in desk.rows(job)] == [RowState.FAILED, RowState.SUCCEEDED]
    assert "Not applied" in desk.page(job)


def test_resuming_and_extending_change_nobody_whose_use_goes_on_longer(desk):
    goes_on, ended = desk.plain()[:2]
    day = timezone.localdate() + timedelta(days=60)
    desk.changed("extend", [goes_on], how="to", day=f"{day}")
    desk.changed("suspend", [ended])
    until = desk.known(goes_on).use_date_end
    job = desk.prepared("resume", [goes_on, ended], end="none")
    assert "1 still has access." in desk.page(job)
    desk.done(job)
    assert (desk.known(goes_on).use_date_end, desk.known(ended).use_date_end) == (until, None)
    refused = desk.ask("extend", [goes_on], how="to", day=f"{day - timedelta(days=30)}")
    assert "1 already ends later." in said(refused)


def test_extending_by_days_counts_from_each_ones_own_end(desk):
    first, second, third = desk.plain()[:3]
    desk.changed("extend", [first], how="to", day="2027-03-31")
    desk.changed("extend", [second], how="to", day="2027-06-30")
    job = desk.prepared("extend", [first, second, third], how="by", days="30")
    assert (job.size, job.unchanged) == (2, 1)
    assert "has no end" in desk.page(job)
    desk.done(job)
    assert desk.at_service(first.member_id)["use_date_end"].startswith("2027-04-30T23:59:59")
    assert desk.at_service(second.member_id)["use_date_end"].startswith("2027-07-30T23:59:59")


def test_copied_rights_are_read_first_where_they_are_not_known_and_can_be_undone(desk):
    model, first, second = desk.plain()[:3]
    unknown = said(desk.ask("rights", [first, second], rights_source="member", rights_member=model.member_id))
    assert "This member's rights are not loaded yet. Open the member once, then try again." in unknown
    desk.client.get(f"{desk.url}{model.member_id}/reading/")
    reads = desk.calls(5)
    before = {each.member_id: desk.at_service(each.member_id)["devices_pass"] for each in (model, first, second)}
    reads = desk.calls(5)
    job = desk.prepared("rights", [first, second], rights_source="member", rights_member=model.member_id)
    page = desk.page(job)
    assert "To load first" in page
    assert "not loaded yet" in page
    desk.done(job)
    assert desk.calls(5) - reads == 2
    assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}
    for member in (first, second):
        assert desk.at_service(member.member_id)["devices_pass"] == before[model.member_id]
    desk.post(job, "undo")
    with desk.scope():
        undo = Job.objects.order_by("-pk")[0]
    desk.done(undo)
    for member in (first, second):
        assert desk.at_service(member.member_id)["devices_pass"] == before[member.member_id]


def test_leavers_are_suspended_at_their_moment_if_whoever_asked_still_may(desk):
    first, second = desk.plain()[:2]
    moment = (timezone.localtime() + timedelta(days=40)).strftime("%Y-%m-%dT%H:%M")
    assert "This time has passed." in said(desk.ask("suspend", [first], when="at", at="2020-01-01T00:00"))
    assert "Enter a date and time." in said(desk.ask("suspend", [first], when="at"))
    ours, theirs = (desk.prepared("suspend", [each], when="at", at=moment) for each in (first, second))
    assert "Scheduled for" in desk.page(ours)
    for job in (ours, theirs):
        assert "Cancel schedule" in said(desk.post(job, "start"))
    page = said(desk.client.get(desk.changes()))
    assert "Scheduled" in page
    with desk.scope():
        jobs.step(ours)
        ours.refresh_from_db()
        assert ours.state == JobState.WAITING
        assert tasks.JOBS.check_due() == 0
        Job.objects.filter(pk__in=[ours.pk, theirs.pk]).update(starts_at=jobs.PAST, due_at=jobs.PAST)
        jobs.run(ours)
        assert ours.state == JobState.DONE
        Staff.objects.filter(user=desk.user).update(role="guard")
        jobs.step(theirs)
        theirs.refresh_from_db()
    assert (theirs.state, theirs.halt) == (JobState.STOPPED, Halt.RIGHTS)
    assert desk.known(first).use_date_end is not None
    assert desk.known(second).use_date_end is None
    assert desk.calls(14) == 1
    with desk.scope():
        acts = list(AuditEntry.objects.values_list("action", flat=True))
    assert (acts.count("change.scheduled"), acts.count("change.begun")) == (2, 1)


def test_a_scheduled_change_can_be_cancelled(desk):
    member = desk.plain()[0]
    moment = (timezone.localtime() + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M")
    job = desk.prepared("suspend", [member], when="at", at=moment)
    desk.post(job, "start")
    assert "Stopped by staff" in said(desk.post(job, "stop"))
    with desk.scope():
        jobs.step(job)
    assert desk.rows(job)[0].state == RowState.STOPPED
    assert desk.calls(14) == 0


def test_nobody_selected_and_unknown_changes(desk):
    assert "Select members first" in said(desk.client.post(desk.changes("new/suspend/"), follow=True))
    assert "Select members first" in said(desk.client.get(desk.changes("new/suspend/"), follow=True))
    assert desk.client.get(desk.changes("new/nonsense/")).status_code == 404
    assert desk.client.get(desk.changes("999999/")).status_code == 404
    odd = desk.client.post(desk.changes("new/move/"), {"ids": "x,\x00,99999999999999999999", "preview": "1"})
    assert odd.status_code in (302, 400)


def test_a_change_that_was_not_started_can_be_discarded(desk):
    job = desk.prepared("suspend", desk.plain()[:2])
    assert "Discarded" in said(desk.post(job, "discard"))
    assert desk.client.get(desk.changes(f"{job.pk}/")).status_code == 404


def test_each_change_needs_its_permission_and_strangers_find_nothing(desk, make):
    members = desk.plain()[:1]
    job = desk.prepared("suspend", members)
    auditor = desk.place.client(desk.place.staff("auditor"))
    assert "Your role can view this but not start it. Ask an owner for the permission." in said(
        auditor.get(desk.changes(f"{job.pk}/"))
    )
    assert auditor.post(desk.changes("new/suspend/"), {"ids": desk.ids(members)}).status_code == 403
    for act in ("start", "stop", "continue", "retry", "undo", "decide", "discard"):
        assert auditor.post(desk.changes(f"{job.pk}/{act}/")).status_code == 403
    assert "new/suspend/" not in auditor.get(desk.url).content.decode()
    receptionist = desk.place.client(desk.place.staff("receptionist"))
    assert receptionist.get(desk.changes()).status_code == 403
    other = make()
    foreign = desk.changes(f"{job.pk}/").replace(desk.place.tenant.slug, other.tenant.slug)
    assert other.client().get(foreign).status_code == 404
    assert re.search(r"404", str(other.client().get(desk.changes(f"{job.pk}/")).status_code))
