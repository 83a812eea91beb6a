"""Editing an area's access: chosen members, a preview of the changes, and rights that are merged one by one.

Changes that other people make at the same time are not overwritten.
"""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accessapi.permissions import always, by_schedule, normalise_devices, weekly
from portal.areas import access_counts
from portal.domain.jobs.models import Job, JobState, RowState
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from tenants.models import AuditEntry
from tests.support.areas import AreasDesk
from tests.support.members import said

READ, BULK, POLL = 5, 14, 34
OFFICE = by_schedule(weekly("08:00:00", "19:00:00", "Monday"))
# The same as in the first line of the form.
HOURS = {
    "pass_.choice": "schedule", "pass_.schedule": "s1", "pass_.s1.1.kind": "weekly", "pass_.s1.1.day": ["Monday"],
    "pass_.s1.1.start": "08:00", "pass_.s1.1.end": "19:00",
}  # fmt: skip
EVERYWHERE = {"default_mode": "allow_all"}
NOTHING = {"default_mode": "deny_all"}
STRANGE = {"area_id": "a-of-tomorrow", "pass": {"effect": "allow_once", "note": "kept"}}


def option(*entries):
    return {"default_mode": "option", "areas_list": [*entries]}


def entry(area, pass_):
    return {"area_id": area.area_id, "pass": pass_}


@pytest.fixture
def desk(place):
    return AreasDesk(place)


def equal(one, other):
    return normalise_devices(one) == normalise_devices(other)


def known_and_so(desk, member, devices):
    """Set a member's rights at the service and in the loaded data."""
    desk.set_at_service(member, devices)
    desk.know(member, devices)


def test_access_is_given_to_known_and_unknown_without_touching_anything_else(desk):
    first, second, third, unread, _rest = desk.people
    theirs = option(entry(desk.other, OFFICE))
    known_and_so(desk, first, theirs)
    known_and_so(desk, second, NOTHING)
    known_and_so(desk, third, EVERYWHERE)
    desk.set_at_service(unread, theirs)
    job = desk.prepared("grant", [first, second, third, unread])
    page = said(desk.client.get(desk.at(f"edits/{job.pk}/")))
    assert "Will change 2" in page
    assert "Rights not loaded yet 1" in page
    assert "1 already has this" in page
    assert "Rights to load first 1" in page
    assert "Requests to send 1" in page
    before = {each: len(desk.place.calls(each)) for each in (READ, BULK)}
    job = desk.run(job)
    assert job.state == JobState.DONE
    assert {row.state for row in desk.rows(job).values()} == {RowState.SUCCEEDED}
    assert {each: len(desk.place.calls(each)) - before[each] for each in before} == {READ: 1, BULK: 1}
    given = entry(desk.area, always())
    assert equal(desk.devices(first), option(entry(desk.other, OFFICE), given))
    assert equal(desk.devices(second), option(given))
    assert equal(desk.devices(third), EVERYWHERE)
    assert equal(desk.devices(unread), option(entry(desk.other, OFFICE), given))
    with desk.scope():
        assert access_counts.count_area(desk.area.area_id).count.with_access == 4
        trail = AuditEntry.objects.get(action="area.grant")
        assert (trail.target, trail.after["members"]) == (f"area:{desk.area.area_id}", 3)
        assert not AuditEntry.objects.filter(action="change.started").exists()  # one row for one action
    assert "Give access to" in said(desk.client.get(desk.at()))


def test_a_schedule_is_given_and_other_hours_are_kept_unless_they_shall_be_replaced(desk):
    nobody, other_hours = desk.people[:2]
    known_and_so(desk, nobody, NOTHING)
    known_and_so(desk, other_hours, option(entry(desk.area, always())))
    kept = desk.prepared("grant", [nobody, other_hours], **HOURS)
    assert "1 keeps their existing hours here" in said(desk.client.get(desk.at(f"edits/{kept.pk}/")))
    assert set(desk.rows(kept)) == {nobody.member_id}
    replaced = desk.prepared("grant", [nobody, other_hours], replace="on", **HOURS)
    assert len(desk.rows(replaced)) == 2
    desk.run(replaced)
    for member in (nobody, other_hours):
        (held,) = desk.devices(member)["areas_list"]
        assert held["pass"] == OFFICE


def test_taking_away_leaves_those_who_may_enter_everywhere_until_somebody_says_otherwise(desk):
    here, everywhere, strange = desk.people[:3]
    known_and_so(desk, here, option(entry(desk.area, always()), entry(desk.other, OFFICE)))
    known_and_so(desk, everywhere, EVERYWHERE)
    desk.know(strange, option({"area_id": desk.area.area_id, "pass": {"effect": "allow_once"}}))
    job = desk.prepared("withdraw", desk.people[:3])
    page = said(desk.client.get(desk.at(f"edits/{job.pk}/")))
    assert "1 keeps access to every area" in page
    assert "1 has an unknown setting and is skipped" in page
    assert set(desk.rows(job)) == {here.member_id}
    job = desk.prepared("withdraw", desk.people[:3], everywhere="on")
    page = said(desk.client.get(desk.at(f"edits/{job.pk}/")))
    assert "It becomes access to the 11 other areas, without areas added later." in page
    desk.run(job)
    assert equal(desk.devices(here), option(entry(desk.other, OFFICE)))
    with desk.scope():
        others = [entry(area, always()) for area in Area.objects.exclude(pk=desk.area.pk)]
    assert equal(desk.devices(everywhere), option(*others))


def test_unknown_values_travel_back_as_they_came(desk):
    member = desk.people[0]
    desk.know(member, option(STRANGE, entry(desk.other, OFFICE)))
    job = desk.prepared("grant", [member])
    (row,) = desk.rows(job).values()
    assert STRANGE in row.content["body"]["devices_pass"]["areas_list"]
    assert equal(option(*row.content["body"]["devices_pass"]["areas_list"]),
                 option(STRANGE, entry(desk.other, OFFICE), entry(desk.area, always())))  # fmt: skip


def test_what_changed_between_the_preview_and_the_sending_is_left_and_reported_and_can_be_tried_again(desk):
    changed, same = desk.people[:2]
    for member in (changed, same):
        known_and_so(desk, member, NOTHING)
    job = desk.prepared("grant", [changed, same])
    known_and_so(desk, changed, option(entry(desk.other, OFFICE)))
    job = desk.run(job)
    rows = desk.rows(job)
    assert (rows[changed.member_id].state, rows[same.member_id].state) == (RowState.FAILED, RowState.SUCCEEDED)
    assert rows[changed.member_id].problems == [["devices_pass", "meanwhile", {}]]
    assert equal(desk.devices(changed), option(entry(desk.other, OFFICE)))
    from portal.domain.intents.recording import Requester
    from portal.domain.jobs import actions

    with desk.scope():
        again = actions.retry(by=Requester(desk.place.tenant, desk.user), job=job)
    assert set(desk.rows(again)) == {changed.member_id}
    desk.run(desk.job(again.pk))
    assert equal(desk.devices(changed), option(entry(desk.other, OFFICE), entry(desk.area, always())))


def test_two_edits_of_two_areas_previewed_before_either_ran_both_come_to_everybody(desk):
    with desk.scope():
        third = Area.objects.order_by("pk")[2]
    plain, hours, last, given = chosen = desk.people[:4]
    kept = entry(third, OFFICE)
    known_and_so(desk, plain, option(kept))
    known_and_so(desk, hours, option(kept, entry(desk.area, OFFICE)))
    known_and_so(desk, last, option(kept, entry(desk.other, always())))
    known_and_so(desk, given, option(kept))
    one, two = desk.area, desk.other
    first = desk.prepared("grant", chosen)
    desk.area = two
    second = desk.prepared("grant", [plain, hours], **HOURS)
    taken = desk.prepared("withdraw", [last])
    # Another person gave the same access as the edit, and another area.
    known_and_so(desk, given, option(kept, entry(one, always()), entry(two, OFFICE)))
    for job, area in ((second, two), (taken, two), (first, one)):
        desk.area = area
        assert {row.state for row in desk.rows(desk.run(job)).values()} == {RowState.SUCCEEDED}
    assert desk.rows(first)[given.member_id].problems == [["", "already", {}]]
    for member in (plain, hours, given):
        assert equal(desk.devices(member), option(kept, entry(one, always()), entry(two, OFFICE)))
    assert equal(desk.devices(last), option(kept, entry(one, always())))
    # Undoing removes only this access; the other area and the other person's changes stay.
    back = desk.post(f"edits/{first.pk}/undo/", {})
    desk.run(desk.job(int(re.search(r"/edits/(\d+)/", back["Location"])[1])))
    assert equal(desk.devices(plain), option(kept, entry(two, OFFICE)))
    assert equal(desk.devices(hours), option(kept, entry(one, OFFICE), entry(two, OFFICE)))
    assert equal(desk.devices(last), option(kept))
    assert equal(desk.devices(given), option(kept, entry(one, always()), entry(two, OFFICE)))


def test_what_changed_here_since_the_preview_is_left_and_what_changed_elsewhere_is_taken_along(desk):
    hours, everywhere, denied, strange, elsewhere = chosen = desk.people[:5]
    for member in chosen:
        known_and_so(desk, member, option(entry(desk.other, OFFICE)))
    job = desk.prepared("grant", chosen)
    odd = {"area_id": desk.area.area_id, "pass": {"effect": "allow_once"}}
    known_and_so(desk, hours, option(entry(desk.area, OFFICE), entry(desk.other, OFFICE)))
    known_and_so(desk, everywhere, EVERYWHERE)
    known_and_so(desk, denied, NOTHING)
    desk.know(strange, option(odd, entry(desk.other, OFFICE)))
    known_and_so(desk, elsewhere, option(entry(desk.other, always())))
    rows = desk.rows(desk.run(job))
    for member in (hours, everywhere, denied, strange):
        assert rows[member.member_id].problems == [["devices_pass", "meanwhile", {}]]
    assert rows[elsewhere.member_id].state == RowState.SUCCEEDED
    assert equal(desk.devices(hours), option(entry(desk.area, OFFICE), entry(desk.other, OFFICE)))
    assert equal(desk.devices(everywhere), EVERYWHERE)
    assert equal(desk.devices(denied), NOTHING)
    assert equal(desk.devices(elsewhere), option(entry(desk.area, always()), entry(desk.other, always())))


def test_rights_read_long_ago_are_read_again_and_a_change_in_the_member_site_is_not_overwritten(desk):
    stale, touched = desk.people[:2]
    long_ago = timezone.now() - timedelta(hours=3)
    for member in (stale, touched):
        known_and_so(desk, member, NOTHING)
    with desk.scope():
        Member.objects.filter(pk__in=[stale.pk, touched.pk]).update(rights_read_at=long_ago)
    desk.set_at_service(touched, option(entry(desk.other, OFFICE)))
    job = desk.prepared("grant", [stale, touched])
    assert "(2 of them again, to check for changes)" in said(desk.client.get(desk.at(f"edits/{job.pk}/")))
    job = desk.run(job)
    rows = desk.rows(job)
    assert (rows[stale.member_id].state, rows[touched.member_id].state) == (RowState.SUCCEEDED, RowState.FAILED)
    assert equal(desk.devices(touched), option(entry(desk.other, OFFICE)))
    trusting = desk.prepared("grant", [touched], trust="1440")
    assert desk.rows(trusting)


def test_unless_somebody_relies_on_older_ones_rights_are_read_right_before_they_are_changed(desk):
    touched = desk.people[0]
    known_and_so(desk, touched, NOTHING)
    page = desk.client.post(desk.at("grant/?list=area-choice"), {"ids": str(touched.pk)}).content.decode()
    assert re.search(r'<option value="0"\s+selected', page) or re.search(r'value="0"[^>]*checked', page)
    job = desk.prepared("grant", [touched], trust="0")
    desk.set_at_service(touched, option(entry(desk.other, OFFICE)))
    (row,) = desk.rows(desk.run(job)).values()
    assert row.problems == [["devices_pass", "meanwhile", {}]]
    assert equal(desk.devices(touched), option(entry(desk.other, OFFICE)))


def test_a_lost_answer_is_settled_by_reading_and_nothing_is_sent_twice_in_vain(desk):
    member = desk.people[0]
    known_and_so(desk, member, NOTHING)
    job = desk.prepared("grant", [member])
    desk.place.sandbox.fault("drop_after", BULK, desk.place.service.tenant_id)
    job = desk.run(job)
    assert {row.state for row in desk.rows(job).values()} <= {RowState.SUCCEEDED, RowState.UNCERTAIN}
    assert equal(desk.devices(member), option(entry(desk.area, always())))


def test_an_edit_is_taken_back_only_where_it_is_still_ours(desk):
    plain, elsewhere, theirs = desk.people[:3]
    for member in desk.people[:3]:
        known_and_so(desk, member, option(entry(desk.other, OFFICE)))
    job = desk.run(desk.prepared("grant", desk.people[:3]))
    known_and_so(desk, elsewhere, option(entry(desk.area, always())))  # another person has removed the other area since
    known_and_so(desk, theirs, option(entry(desk.area, OFFICE), entry(desk.other, OFFICE)))  # and gave other hours here
    answer = desk.post(f"edits/{job.pk}/undo/", {})
    back = desk.job(int(re.search(r"/edits/(\d+)/", answer["Location"])[1]))
    page = said(desk.client.get(answer["Location"]))
    assert "Will change 2" in page
    assert "1 was changed since and is skipped" in page
    back = desk.run(back)
    assert equal(desk.devices(plain), option(entry(desk.other, OFFICE)))
    assert equal(desk.devices(elsewhere), NOTHING)
    assert equal(desk.devices(theirs), option(entry(desk.area, OFFICE), entry(desk.other, OFFICE)))
    again = desk.client.post(desk.at(f"edits/{job.pk}/undo/"), follow=True)
    assert "Nothing was undone: this cannot be undone, or was undone already. See the result below." in said(again)


def test_a_whole_group_or_all_that_a_filter_finds_is_chosen_and_not_one_more(desk):
    with desk.scope():
        group = desk.people[0].membergroup_id
        mine = set(Member.objects.filter(membergroup_id=group).values_list("member_id", flat=True))
    page = desk.client.get(desk.at("members/"), {"group": group})
    assert 'name="match"' in page.content.decode()
    values = {"scope": "match", "match": f"group={group}", "step": "preview", "trust": "60", "pass_.choice": "always"}
    desk.post("grant/?list=area-choice", values)
    with desk.scope():
        job = Job.objects.get()
    assert set(desk.rows(job)) == mine
    holder, other = desk.people[:2]
    desk.know(holder, option(entry(desk.area, always())))
    desk.know(other, option(entry(desk.other, always())))
    values = {"scope": "match", "match": "", "step": "preview", "trust": "60"}
    answer = desk.post("withdraw/?list=area-people", values)
    job = desk.job(int(re.search(r"/edits/(\d+)/", answer["Location"])[1]))
    assert set(desk.rows(job)) == {holder.member_id}


def test_nothing_to_do_is_said_and_prepares_nothing(desk):
    member = desk.people[0]
    desk.know(member, option(entry(desk.area, always())))
    answer = desk.post("grant/?list=area-choice", {
        "ids": str(member.pk), "step": "preview", "trust": "60", "pass_.choice": "always"})  # fmt: skip
    assert "Nothing to change for the selected members." in said(answer)
    assert "Nothing was changed: no members are selected, or they no longer exist. Select members in the list." in said(
        desk.client.post(desk.at("grant/"), {"ids": "999999"}, follow=True)
    )
    with desk.scope():
        assert not Job.objects.exists()


@pytest.mark.parametrize("act", ["grant", "withdraw"])
def test_whatever_is_posted_is_answered(desk, act):
    one = {"ids": str(desk.people[0].pk)}
    for values in (
        {"ids": "9" * 40 + ",x,-1,0"}, {"scope": "match", "match": "sort=x&after=y&hours=z&at=never&group=%00"},
        {**one, "step": "preview"}, {**one, "step": "x", "trust": "-1", "pass_.choice": "often"},
        {**one, "step": "preview", "trust": "60", "pass_.choice": "schedule", "pass_.s1.1.kind": "weekly"},
    ):  # fmt: skip
        assert desk.post(f"{act}/?list=area-choice", values).status_code in (200, 302, 422), values


def test_what_the_page_of_all_changes_undoes_is_judged_the_same(desk):
    from portal.domain.intents.recording import Requester
    from portal.domain.jobs import undoing

    plain, theirs = desk.people[:2]
    for member in (plain, theirs):
        known_and_so(desk, member, NOTHING)
    job = desk.run(desk.prepared("grant", [plain, theirs]))
    known_and_so(desk, theirs, option(entry(desk.area, OFFICE)))
    with desk.scope():
        back = undoing.undo(by=Requester(desk.place.tenant, desk.user), job=job)
    back = desk.run(desk.job(back.pk))
    assert equal(desk.devices(plain), NOTHING)
    assert equal(desk.devices(theirs), option(entry(desk.area, OFFICE)))
    assert desk.rows(back)[theirs.member_id].problems == [["", "not_ours", {}]]


def test_an_edit_of_another_area_or_tenant_is_not_found_and_a_discarded_one_is_gone(desk):
    known_and_so(desk, desk.people[0], NOTHING)
    job = desk.prepared("grant", desk.people[:1])
    elsewhere = f"{desk.areas_url}{desk.other.area_id}/edits/{job.pk}/"
    for rest in ("", "start/", "discard/", "undo/"):
        assert desk.client.post(elsewhere + rest).status_code in (404, 405)
    assert desk.client.get(elsewhere).status_code == 404
    desk.post(f"edits/{job.pk}/discard/", {})
    assert desk.client.get(desk.at(f"edits/{job.pk}/")).status_code == 404
    assert equal(desk.devices(desk.people[0]), NOTHING)


def test_whoever_lost_the_right_meanwhile_changes_nothing(desk):
    from tenants.models import Staff

    known_and_so(desk, desk.people[0], NOTHING)
    job = desk.prepared("grant", desk.people[:1])
    with desk.scope():
        Staff.objects.filter(user=desk.user).update(role="auditor")
    assert desk.post(f"edits/{job.pk}/start/", {}).status_code == 403
    assert equal(desk.devices(desk.people[0]), NOTHING)


def test_grants_follow_what_an_edit_wrote(desk):
    known_and_so(desk, desk.people[0], NOTHING)
    desk.run(desk.prepared("grant", desk.people[:1]))
    with desk.scope():
        before = access_counts.count_area(desk.area.area_id)
        access_counts.update_grants(desk.place.tenant, Member.objects.all())
        assert access_counts.count_area(desk.area.area_id) == before
        assert before.count.always == 1
