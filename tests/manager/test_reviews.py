"""Access reviews: a reviewer decides about every right to an area; the manager applies, finishes, and gets a report."""

import csv
import io
import json
import re
import zipfile
from datetime import timedelta
from io import BytesIO
from unittest.mock import patch

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from accessapi.permissions import by_schedule, weekly
from portal.base.ui.times import local
from portal.domain.jobs.models import JobState
from portal.domain.people.models import Member
from portal.reviews.models import Item, Review, Step
from tenants.models import AuditEntry, Staff
from tenants.roles import FacilityManager
from tests.support.evidence import checked, public_key
from tests.support.log import loaded
from tests.support.members import said
from tests.support.reviews import NOTHING, ReviewsDesk, option

UPDATE = 14


@pytest.fixture
def desk(place):
    return ReviewsDesk(place)


def test_a_review_lists_everybody_with_a_right_and_of_how_many_nothing_is_known(desk):
    review = desk.start()
    page = said(desk.client.get(desk.link("page", review.pk)))
    assert "0 of at least 3 rights done" in page
    for member in desk.holders:
        assert member.member_name in page
    assert page.count("0 / at least 3") == 2, "of the reviewer and of the area"
    assert f"rights of {len(desk.people) - 3} members not loaded" in page
    assert f"Load {len(desk.people) - 3} members now" in page


def test_a_right_that_is_loaded_later_is_added_and_marked(desk):
    review = desk.start()
    late = desk.people[3]
    desk.hold(late, option(desk.area.area_id))
    desk.look_again(review)
    page = said(desk.client.get(desk.link("page", review.pk)))
    assert "0 of at least 4 rights done" in page
    assert desk.item(review, late).is_late


def test_a_reviewer_confirms_and_withdraws_and_sees_how_far_they_are(desk):
    review = desk.start()
    first, second, _third = desk.holders
    desk.decide(review, first, "confirm")
    page = desk.decide(review, second, "withdraw")
    assert "2 of 3 done" in page
    assert "To be withdrawn" in page
    desk.decide(review, second, "undo")
    assert desk.item(review, second).is_open
    page = said(desk.client.get(desk.link("item", review.pk, desk.item(review, second).pk)))
    assert "Marked for withdrawal" in page
    assert "Decision undone" in page


def test_a_right_that_changed_is_not_decided_but_shown_beside_the_old_one(desk):
    review = desk.start()
    first = desk.holders[0]
    value = desk.buttons(review, first)["confirm"]
    desk.know(first, {"default_mode": "allow_all"})
    page = desk.press(review, value)
    assert "Not saved: the right has changed. Look at the new right and decide again." in page
    assert "Changed since the review began" in page
    assert desk.item(review, first).is_open
    assert "of 3 done" in desk.decide(review, first, "confirm")
    assert not desk.item(review, first).is_open


def test_a_decision_is_asked_for_again_when_the_right_changes_after_it(desk):
    review = desk.start()
    first = desk.holders[0]
    desk.decide(review, first, "confirm")
    desk.know(first, {"default_mode": "allow_all"})
    desk.look_again(review)
    assert desk.item(review, first).is_open
    assert "Decide again" in said(desk.decider.get(desk.link("decide", review.pk)))


def test_who_left_or_lost_the_right_is_shown_as_such_and_needs_no_decision(desk):
    review = desk.start()
    first, second, _third = desk.holders
    desk.know(first, NOTHING)
    with desk.scope():
        Member.objects.filter(pk=second.pk).update(gone_at=timezone.now())
    desk.look_again(review)
    page = said(desk.client.get(desk.link("page", review.pk)))
    assert "No longer has this right" in page
    assert "No longer in the members list" in page
    assert "2 ended without a decision" in page
    assert not desk.buttons(review, first)


def test_two_reviewers_never_overwrite_each_other(desk):
    review = desk.start()
    first = desk.holders[0]
    seen = desk.buttons(review, first)
    desk.press(review, seen["confirm"])
    page = desk.press(review, seen["withdraw"])
    assert "Not saved: another person has decided or delegated this. Reload the page." in page
    assert desk.item(review, first).decision == "confirm"


def test_the_same_press_twice_is_kept_once(desk):
    review = desk.start()
    first = desk.holders[0]
    value = desk.buttons(review, first)["confirm"]
    for _time in range(2):
        assert "Not saved" not in desk.press(review, value)
    with desk.scope():
        assert Step.objects.filter(item=desk.item(review, first)).count() == 1


def test_script_gets_the_row_as_it_is_then(desk):
    review = desk.start()
    value = desk.buttons(review, desk.holders[0])["confirm"]
    heads = {"HTTP_ACCEPT": "application/json"}
    told = desk.decider.post(desk.link("press", review.pk), {"press": value}, **heads).json()
    assert (told["saved"], told["done"], told["waiting"]) == (True, 1, 2)
    assert "Confirmed" in told["row"]


def test_a_selection_is_confirmed_at_once_but_for_what_changed(desk):
    review = desk.start()
    desk.know(desk.holders[0], {"default_mode": "allow_all"})
    everything = {"scope": "match", "match": "list=review-mine"}
    page = desk.decider.post(desk.link("confirm_many", review.pk), everything)
    assert "Rights that changed since the review began are left out." in said(page)
    carried = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.content.decode()))
    answer = desk.decider.post(desk.link("confirm_many", review.pk), everything | carried, follow=True)
    assert "2 rights confirmed." in said(answer)
    assert "1 right was left out: it has changed." in said(answer)


def test_a_groups_reviewer_comes_before_the_areas(desk):
    first, other = desk.holders[0], desk.place.staff("facility manager")
    review = desk.start(split="area")
    asked = desk.client.get(desk.link("groups", review.pk)).content.decode()
    chosen = dict.fromkeys(re.findall(r'name="(group-[^"]*)"', asked), str(other.pk))
    chosen["nonce"] = re.search(r'name="nonce" value="([^"]*)"', asked)[1]
    with desk.scope():
        Item.objects.filter(pk=desk.item(review, first).pk)._raw_delete("default")  # it is added again below
    desk.client.post(desk.link("groups", review.pk), chosen)
    desk.look_again(review)
    assert desk.item(review, first).reviewer_id == other.pk


def test_items_of_others_are_not_found(desk):
    manager = desk.place.staff("facility manager")
    review = desk.start(manager)
    item = desk.item(review, desk.holders[0])
    for address in (desk.link("decide", review.pk), desk.link("my_item", review.pk, item.pk)):
        assert desk.decider.get(address).status_code == 404
    assert desk.decider.get(desk.link("page", review.pk)).status_code == 403


def test_who_may_no_longer_decide_gets_no_items_and_no_mail(desk):
    review, late = desk.start(), desk.people[3]
    desk.hold(late, option(desk.area.area_id))
    with desk.scope():
        Staff.objects.filter(user=desk.reviewer).update(role="receptionist")
    mail.outbox.clear()
    desk.look_again(review)
    desk.remind(review)
    assert desk.item(review, late).reviewer_id is None
    assert mail.outbox == []
    assert "4 rights without a reviewer who can decide" in said(desk.client.get(desk.link("page", review.pk)))
    assert desk.decider.get(desk.link("decide", review.pk)).status_code == 403


@pytest.mark.parametrize("role", ["reviewer", "auditor"])
def test_a_review_is_led_by_its_managers_alone(desk, role):
    review, area = desk.start(), desk.area.area_id
    desk.decide(review, desk.holders[0], "withdraw")
    client = desk.place.client(desk.place.staff(role))
    for name, *more in (("change",), ("assign",), ("groups",), ("withdrawals", area), ("finish",), ("cancel",)):
        assert client.post(desk.link(name, review.pk, *more), {"scope": "match"}).status_code == 403
    assert client.post(desk.link("new")).status_code == 403
    with patch.object(FacilityManager, "permissions", FacilityManager.permissions - {"reviews_manage"}):
        assert desk.client.post(desk.link("withdrawals", review.pk, area)).status_code == 403


def test_an_auditor_reads_a_review_and_decides_nothing(desk):
    review = desk.start()
    auditor = desk.place.client(desk.place.staff("auditor"))
    assert desk.holders[0].member_name in said(auditor.get(desk.link("page", review.pk)))
    for name in ("press", "confirm_many", "withdraw_many", "delegate"):
        assert auditor.post(desk.link(name, review.pk), {"all": "1"}).status_code == 403


def test_nothing_is_finished_before_the_list_is_made_or_while_withdrawals_are_under_way(desk):
    review = desk.start()
    with desk.scope():
        Review.objects.filter(pk=review.pk).update(listed_at=None)
    page = said(desk.client.post(desk.link("finish", review.pk), follow=True))
    assert "Review not finished: rights are still being collected." in page
    with desk.scope():
        Review.objects.filter(pk=review.pk).update(listed_at=timezone.now())
    desk.decide(review, desk.holders[0], "withdraw")
    desk.withdrawals(review)
    for act in ("finish", "cancel"):
        page = said(desk.client.post(desk.link(act, review.pk), follow=True))
        assert "Review not finished: withdrawals are prepared or in progress." in page
    with desk.scope():
        assert Review.objects.get(pk=review.pk).state == "running"


def test_items_are_delegated_and_the_new_reviewer_decides(desk):
    review = desk.start()
    other = desk.place.staff("facility manager")
    asked = desk.decider.post(desk.link("delegate", review.pk), {"all": "1"})
    assert "Delegate 3 rights?" in said(asked)
    nonce = asked.content.decode().split('name="nonce" value="')[1].split('"')[0]
    given = {"all": "1", "to": other.pk, "note": "On leave", "sure": "1", "nonce": nonce}
    said(desk.decider.post(desk.link("delegate", review.pk), given))
    item = desk.item(review, desk.holders[0])
    assert item.reviewer_id == other.pk
    client = desk.place.client(other)
    assert desk.buttons(review, desk.holders[0], client)
    assert "On leave" in said(client.get(desk.link("my_item", review.pk, item.pk)))


def test_withdrawals_become_one_edit_with_its_preview_and_the_service_knows(desk):
    review = desk.start()
    first, second, third = desk.holders
    desk.decide(review, first, "withdraw")
    desk.decide(review, second, "withdraw")
    desk.decide(review, third, "confirm")
    before = len(desk.place.calls(UPDATE))
    job = desk.withdrawals(review)
    preview = desk.client.get(desk.at(f"edits/{job.pk}/"))
    assert "Will change 2" in said(preview)
    assert f'href="{desk.link("page", review.pk)}"' in preview.content.decode()
    assert desk.run(job).state == JobState.DONE
    ended = desk.client.get(reverse("changes:page", args=[desk.place.tenant.slug, job.pk])).content.decode()
    assert f'href="{desk.link("page", review.pk)}"' in ended
    assert len(desk.place.calls(UPDATE)) - before == 1
    for member, may in ((first, False), (second, False), (third, True)):
        assert bool(desk.devices(member).get("areas_list")) == may
    desk.work(review)
    assert desk.item(review, first).applied == "withdrawn"
    assert "2 withdrawn or to be withdrawn" in said(desk.client.get(desk.link("page", review.pk)))


def test_a_right_that_changed_after_the_decision_is_not_withdrawn(desk):
    review = desk.start()
    first, second, _third = desk.holders
    desk.decide(review, first, "withdraw")
    desk.decide(review, second, "withdraw")
    hours = by_schedule(weekly("08:00:00", "19:00:00", "Monday"))
    desk.know(first, {"default_mode": "option", "areas_list": [{"area_id": desk.area.area_id, "pass": hours}]})
    job = desk.withdrawals(review)
    assert list(desk.rows(job)) == [second.member_id]


def test_a_finished_review_is_signed_and_every_changed_byte_is_found(desk, tmp_path):
    review = desk.start()
    desk.decide(review, desk.holders[0], "confirm")
    asked = said(desk.client.get(desk.link("finish", review.pk)))
    assert "2 rights are undecided. The report notes this." in asked
    assert re.search(r"Rights of \d+ members? not loaded. These rights are not reviewed. The report notes this.", asked)
    desk.client.post(desk.link("finish", review.pk))
    review = desk.work(review)
    assert review.state == "finished"
    page = said(desk.client.get(desk.link("report", review.pk)))
    assert "Confirmed 1" in page
    assert "Not decided 2" in page
    assert "not reviewed: rights of" in page
    made = b"".join(desk.client.get(desk.link("file", review.pk)).streaming_content)
    with zipfile.ZipFile(BytesIO(made)) as file:
        lines = [json.loads(line) for line in file.read("items.jsonl").splitlines()]
        report = json.loads(file.read("report.json"))
        table = file.read("items.csv").decode("utf-8-sig")
        shown = file.read("index.html").decode()
    assert "Autumn" in shown
    assert all(member.member_name in shown for member in desk.holders)
    assert report["review"]["rights_read_from"] <= report["review"]["rights_read_until"]
    assert report["counts"] == {"items": 3, "confirmed": 1, "not_decided": 2}
    assert [line["steps"][0]["by"]["email"] for line in lines if line["steps"]] == [desk.reviewer.email]
    assert desk.holders[0].member_name in table
    with desk.scope():
        assert AuditEntry.objects.get(action="review.downloaded").by == desk.user
    key, kept = public_key(tmp_path), tmp_path / "review.zip"
    kept.write_bytes(made)
    assert checked(kept, key)[0] == 0
    middle = len(made) // 2
    kept.write_bytes(made[:middle] + bytes([made[middle] ^ 1]) + made[middle + 1 :])
    assert checked(kept, key)[0] == 1


def test_the_signed_report_says_of_the_last_use_what_the_screen_says(desk):
    loaded(desk.place, days=5)
    review = desk.start()
    first = local(timezone.now() - timedelta(days=5)).date().isoformat()
    assert f"None since {first}" in said(desk.client.get(desk.link("page", review.pk)))
    assert "0 / at least 3" in said(desk.client.get(desk.link("index")))
    desk.client.post(desk.link("finish", review.pk))
    review = desk.work(review)
    made = b"".join(desk.client.get(desk.link("file", review.pk)).streaming_content)
    with zipfile.ZipFile(BytesIO(made)) as file:
        line = json.loads(file.read("items.jsonl").splitlines()[0])
        [row, *_rest] = csv.DictReader(io.StringIO(file.read("items.csv").decode("utf-8-sig")))
    assert (line["last_use"]["how"], line["last_use"]["in_words"]) == ("none_in_log", f"None since {first}")
    assert (row["last_use"], row["since"]) == (f"None since {first}", "Unknown")


def test_nothing_is_decided_in_a_review_that_is_over(desk):
    review = desk.start()
    value = desk.buttons(review, desk.holders[0])["confirm"]
    desk.client.post(desk.link("cancel", review.pk))
    assert "Not saved: this review has ended. See its report for the result." in desk.press(review, value)
    assert desk.item(review, desk.holders[0]).decision == ""


def test_a_reviewer_is_told_once_by_mail_without_names_of_members(desk):
    review = desk.start()
    mail.outbox.clear()
    for _time in range(2):
        desk.remind(review)
    [told] = mail.outbox
    assert told.to == [desk.reviewer.email]
    assert "3 rights need your decision." in told.body
    assert desk.link("decide", review.pk) in told.body
    assert not any(member.member_name in told.body for member in desk.holders)


def test_a_reviewer_is_reminded_when_it_is_overdue(desk):
    review = desk.start()
    with desk.scope():
        Review.objects.filter(pk=review.pk).update(due_on=timezone.now().date() - timedelta(days=3))
        mail.outbox.clear()
    desk.remind(review)
    [told] = mail.outbox
    assert "The due date has passed" in told.body
    assert "Overdue" in said(desk.decider.get(desk.link("decide", review.pk)))
