"""Changes during a review: edits that stop and continue, rights that are given again, reviewers who leave."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from portal.domain.jobs.models import Job, JobState
from portal.domain.people.models import Member
from portal.reviews.models import Delegation, Item, Review
from tenants.models import AuditEntry, Staff
from tests.support.members import said
from tests.support.reviews import NOTHING, ReviewsDesk, option


@pytest.fixture
def desk(place):
    return ReviewsDesk(place)


def change(desk: ReviewsDesk, job: Job, act: str) -> None:
    """Press a button on the page of a bulk change."""
    assert desk.client.post(f"/t/{desk.place.tenant.slug}/changes/{job.pk}/{act}/").status_code == 302


def stopped(desk: ReviewsDesk, job: Job) -> Job:
    """Start an edit and stop it before anything is sent."""
    assert desk.post(f"edits/{job.pk}/start/", {}).status_code == 302
    change(desk, job, "stop")
    done = desk.finish(job)
    assert done.state == JobState.STOPPED
    return done


def test_a_stopped_edit_that_goes_on_does_not_withdraw_what_was_decided_otherwise_since(desk):
    review = desk.start()
    first, second, _third = desk.holders
    desk.decide(review, first, "withdraw")
    desk.decide(review, second, "withdraw")
    job = stopped(desk, desk.withdrawals(review))
    desk.work(review)
    assert desk.item(review, first).applied == "stopped"
    desk.decide(review, first, "undo")
    desk.decide(review, first, "confirm")
    change(desk, job, "continue")
    desk.finish(job)
    desk.work(review)
    assert desk.devices(first).get("areas_list")
    assert not desk.devices(second).get("areas_list")
    assert (desk.item(review, first).decision, desk.item(review, first).is_open) == ("confirm", False)
    assert desk.item(review, second).applied == "withdrawn"


def test_nothing_is_decided_while_a_stopped_edit_goes_on(desk):
    review = desk.start()
    first = desk.holders[0]
    desk.decide(review, first, "withdraw")
    job = stopped(desk, desk.withdrawals(review))
    desk.work(review)
    value = desk.buttons(review, first)["undo"]
    change(desk, job, "continue")
    assert "Not saved: the withdrawal is already in progress. No decision is needed." in desk.press(review, value)
    desk.finish(job)
    desk.work(review)
    assert desk.item(review, first).applied == "withdrawn"


def test_a_skipped_withdrawal_is_not_tried_again_for_the_new_right(desk):
    review = desk.start()
    first = desk.holders[0]
    desk.decide(review, first, "withdraw")
    job = desk.withdrawals(review)
    desk.hold(first, {"default_mode": "allow_all"})
    desk.run(job)
    desk.work(review)
    assert desk.item(review, first).is_open
    change(desk, job, "retry")
    with desk.scope():
        assert not Job.objects.filter(retry_of=job).exists()


def test_a_right_that_is_there_again_after_its_withdrawal_is_decided_again_and_reported(desk):
    review = desk.start()
    first, second, _third = desk.holders
    desk.decide(review, first, "withdraw")
    desk.decide(review, second, "withdraw")
    desk.run(desk.withdrawals(review))
    desk.look_again(review)
    assert not desk.item(review, first).is_open
    desk.hold(first, option(desk.area.area_id))
    desk.look_again(review)
    assert desk.item(review, first).is_open
    assert "Access granted again" in said(desk.decider.get(desk.link("decide", review.pk)))
    desk.client.post(desk.link("finish", review.pk))
    review = desk.work(review)
    assert review.report["counts"]["given_again_after_withdrawal"] == review.report["counts"]["withdrawn"] == 1
    assert "Withdrawn, then granted again 1" in said(desk.client.get(desk.link("report", review.pk)))


def test_a_right_that_came_back_is_confirmed_like_any_other(desk):
    review = desk.start()
    first = desk.holders[0]
    desk.decide(review, first, "withdraw")
    desk.run(desk.withdrawals(review))
    desk.hold(first, option(desk.area.area_id))
    desk.look_again(review)
    desk.decide(review, first, "confirm")
    item = desk.item(review, first)
    assert (item.decision, item.applied, item.is_open) == ("confirm", "", False)


def test_somebody_whose_rights_are_not_loaded_has_not_lost_them(desk):
    review = desk.start()
    first = desk.holders[0]
    with desk.scope():
        Member.objects.filter(pk=first.pk).update(rights=None, rights_read_at=None)
    desk.look_again(review)
    assert (desk.item(review, first).right_status, desk.item(review, first).is_open) == ("unread", True)
    assert "Right not loaded" in said(desk.decider.get(desk.link("my_item", review.pk, desk.item(review, first).pk)))
    assert not desk.buttons(review, first)
    item = desk.item(review, first)
    assert "this right is not loaded" in desk.press(review, f"{item.pk}:confirm:{item.version}:?")


def test_withdrawals_are_prepared_once_however_often_the_button_is_pressed(desk):
    review = desk.start()
    desk.decide(review, desk.holders[0], "withdraw")
    assert desk.withdrawals(review).pk == desk.withdrawals(review).pk


@pytest.mark.parametrize("end", ["finish", "cancel"])
def test_a_review_does_not_end_while_a_withdrawal_is_prepared(desk, end):
    review = desk.start()
    desk.decide(review, desk.holders[0], "withdraw")
    job = desk.withdrawals(review)
    page = said(desk.client.post(desk.link(end, review.pk), follow=True))
    assert "Review not finished: withdrawals are prepared or in progress." in page
    desk.post(f"edits/{job.pk}/discard/", {})
    desk.client.post(desk.link(end, review.pk))
    with desk.scope():
        assert Review.objects.get(pk=review.pk).state != "running"


def asked(desk: ReviewsDesk, review: Review, **fields: str) -> dict[str, str]:
    """Select all of the reviewer's items, and return the hidden fields of the confirmation."""
    page = desk.decider.post(desk.link("confirm_many", review.pk), {"scope": "match", "match": ""} | fields)
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.content.decode()))


def test_a_selection_leaves_out_what_was_added_after_the_question(desk):
    review = desk.start()
    carried = asked(desk, review)
    late = desk.people[3]
    desk.hold(late, option(desk.area.area_id))
    desk.look_again(review)
    assert "3 rights confirmed." in said(desk.decider.post(desk.link("confirm_many", review.pk), carried, follow=True))
    assert desk.item(review, late).is_open


def test_whoever_confirms_a_selection_of_a_review_that_is_over_is_told(desk):
    review = desk.start()
    carried = asked(desk, review)
    desk.client.post(desk.link("cancel", review.pk))
    page = said(desk.decider.post(desk.link("confirm_many", review.pk), carried, follow=True))
    assert "Not saved: this review has ended. See its report for the result." in page


def in_groups(desk: ReviewsDesk, review: Review, **members: Member) -> None:
    with desk.scope():
        for group, member in members.items():
            Item.objects.filter(review=review, member_id=member.member_id).update(group_id=group, group=group)


def choose_reviewers(desk: ReviewsDesk, review: Review, **groups: int) -> None:
    page = desk.client.get(desk.link("groups", review.pk)).content.decode()
    nonce = re.search(r'name="nonce" value="([^"]+)"', page)
    assert nonce is not None
    values = {f"group-{group}": str(pk) for group, pk in groups.items()} | {"nonce": nonce[1]}
    assert desk.client.post(desk.link("groups", review.pk), values).status_code == 302


def test_a_group_goes_to_its_reviewer_whatever_was_decided_since_the_page_was_opened(desk):
    review = desk.start()
    first, second, third = desk.holders
    in_groups(desk, review, a=first, b=second)
    with desk.scope():
        Item.objects.filter(review=review, member_id=third.member_id).update(group_id="a", group="a")
    other = desk.place.staff("facility manager")
    page = desk.client.get(desk.link("groups", review.pk)).content.decode()
    names = re.findall(r'name="(group-[^"]*)"', page)
    assert names == ["group-a", "group-b"]
    desk.decide(review, first, "confirm")  # group "a" is no longer the larger one
    desk.decide(review, third, "confirm")
    nonce = re.search(r'name="nonce" value="([^"]+)"', page)
    assert nonce is not None
    desk.client.post(desk.link("groups", review.pk), {names[1]: other.pk, "nonce": nonce[1]})
    assert desk.item(review, second).reviewer_id == other.pk
    assert desk.item(review, first).reviewer_id == desk.reviewer.pk


def test_assigning_another_group_does_not_take_back_what_was_delegated(desk):
    review = desk.start()
    first, second, _third = desk.holders
    in_groups(desk, review, a=first, b=second)
    manager = desk.place.staff("facility manager")
    choose_reviewers(desk, review, a=manager.pk)
    with desk.scope():
        Item.objects.filter(pk=desk.item(review, first).pk).update(reviewer=desk.reviewer)
    choose_reviewers(desk, review, a=manager.pk, b=manager.pk)
    assert desk.item(review, first).reviewer_id == desk.reviewer.pk
    assert desk.item(review, second).reviewer_id == manager.pk


def test_the_manager_sees_that_a_reviewer_may_no_longer_decide(desk):
    review = desk.start()
    value = desk.buttons(review, desk.holders[0])["confirm"]
    with desk.scope():
        Staff.objects.filter(user=desk.reviewer).update(role="receptionist")
    assert "No longer a reviewer" in said(desk.client.get(desk.link("page", review.pk)))
    assert desk.decider.post(desk.link("press", review.pk), {"press": value}).status_code == 403
    assert desk.item(review, desk.holders[0]).decision == ""


def test_nothing_is_delegated_to_somebody_who_may_not_decide(desk):
    review = desk.start()
    guard = desk.place.staff("guard")
    page = desk.client.post(
        desk.link("assign", review.pk), {"ids": desk.item(review, desk.holders[0]).pk, "to": guard.pk, "note": ""}
    )
    assert "Select a valid choice" in said(page)
    with desk.scope():
        assert not Delegation.objects.exists()


def test_a_deleted_area_is_shown_as_such_and_nothing_can_be_withdrawn_there(desk):
    review = desk.start()
    desk.decide(review, desk.holders[0], "withdraw")
    with desk.scope():
        type(desk.area).objects.filter(pk=desk.area.pk).delete()
    page = said(desk.client.get(desk.link("page", review.pk)))
    assert "Area deleted" in page
    assert "Preview 1 withdrawal" not in page
    assert desk.client.post(desk.link("withdrawals", review.pk, desk.area.area_id)).status_code == 404


def test_the_list_of_reviews_says_how_far_each_is_and_which_is_overdue(desk):
    review = desk.start()
    desk.decide(review, desk.holders[0], "confirm")
    with desk.scope():
        Review.objects.filter(pk=review.pk).update(due_on=timezone.now().date() - timedelta(days=3))
    page = said(desk.client.get(desk.link("index")))
    assert "1 / at least 3" in page
    assert "Overdue" in page


def test_a_note_with_a_character_that_cannot_be_stored_is_kept_without_it(desk):
    review = desk.start()
    value = desk.buttons(review, desk.holders[0])["withdraw"]
    desk.decider.post(desk.link("press", review.pk), {"press": value, "note": "left\x00 in May"})
    assert desk.item(review, desk.holders[0]).note == "left in May"


def test_a_note_that_could_not_be_saved_is_in_its_form_again(desk):
    review = desk.start()
    first = desk.holders[0]
    at = desk.link("my_item", review.pk, desk.item(review, first).pk)
    value = desk.buttons(review, first)["withdraw"]
    asked = {"press": value, "note": "Left", "item": desk.item(review, first).pk}
    desk.decider.post(desk.link("press", review.pk), asked)
    for note, why in (
        ("Left in May", "you already decided this, with another note"),
        ("Left " * 100, "Not saved: the note is too long. Shorten it to 300 characters"),
    ):
        answer = desk.decider.post(desk.link("press", review.pk), asked | {"note": note}, follow=True)
        assert answer.redirect_chain[-1][0].startswith(at)
        assert why in said(answer)
        assert f'value="{note.strip()}' in answer.content.decode()
    assert desk.item(review, first).note == "Left"


def test_a_delegation_that_is_refused_keeps_its_note(desk):
    review = desk.start()
    item, other = desk.item(review, desk.holders[0]), desk.place.staff("reviewer")
    asked = desk.client.post(desk.link("assign", review.pk), {"ids": item.pk})
    nonce = re.search(r'name="nonce" value="([^"]+)"', asked.content.decode())
    assert nonce is not None
    with desk.scope():
        Review.objects.filter(pk=review.pk).update(state="cancelled")
    told = {"ids": item.pk, "to": other.pk, "note": "On leave", "nonce": nonce[1]}
    answer = desk.client.post(desk.link("assign", review.pk), told)
    assert answer.status_code == 422
    assert "Not saved: this review has ended. See its report for the result." in said(answer)
    assert 'value="On leave"' in answer.content.decode()


def test_who_lost_the_right_meanwhile_is_told_in_the_row(desk):
    review = desk.start()
    first = desk.holders[0]
    value = desk.buttons(review, first)["withdraw"]
    desk.know(first, NOTHING)
    heads = {"HTTP_ACCEPT": "application/json"}
    told = desk.decider.post(desk.link("press", review.pk), {"press": value}, **heads).json()
    assert told["name"] == first.member_name
    assert told["message"] == "Not saved: this person no longer has the right. No decision is needed."


def test_pages_ask_the_database_little_however_many_rights_there_are(desk, django_assert_max_num_queries):
    for member in desk.people[3:]:
        desk.hold(member, option(desk.area.area_id))
    review = desk.start()
    for client, name in ((desk.client, "page"), (desk.decider, "decide"), (desk.client, "index")):
        link = desk.link(name, review.pk) if name != "index" else desk.link(name)
        client.get(link)
        with django_assert_max_num_queries(40):
            client.get(link)
    value = desk.buttons(review, desk.holders[0])["confirm"]
    with django_assert_max_num_queries(40):
        desk.decider.post(desk.link("press", review.pk), {"press": value}, HTTP_ACCEPT="application/json")


def test_the_same_form_starts_one_review(desk):
    nonce = str(uuid.uuid4())
    assert desk.start(nonce=nonce).pk == desk.start(nonce=nonce).pk


def changed(desk: ReviewsDesk, review: Review, *, title: str = "Autumn", days: int = 14) -> str:
    """Change the title and the due date by the form, to so many days from now, and return the page that follows."""
    due = timezone.now().date() + timedelta(days=days)
    values = {"title": title, "due_on": due.isoformat()}
    return said(desk.client.post(desk.link("change", review.pk), values, follow=True))


def acts(desk: ReviewsDesk) -> list[tuple[Any, Any]]:
    with desk.scope():
        return [(row.before, row.after) for row in AuditEntry.objects.filter(action="review.changed").order_by("pk")]


def test_reviewers_see_the_title_and_the_due_date_that_the_manager_changed(desk):
    review = desk.start()
    before = {"title": "Autumn", "due_on": review.due_on.isoformat()}
    assert 'value="Autumn"' in desk.client.get(desk.link("change", review.pk)).content.decode()
    for _time in range(2):
        assert "Saved." in changed(desk, review, title="Late autumn", days=30)
    due = (timezone.now().date() + timedelta(days=30)).isoformat()
    for address in (desk.link("mine"), desk.link("decide", review.pk)):
        page = said(desk.decider.get(address))
        assert "Late autumn" in page
        assert due in page
    assert acts(desk) == [(before, {"title": "Late autumn", "due_on": due})]
    assert desk.decider.get(desk.link("change", review.pk)).status_code == 403


def test_reminders_follow_a_changed_due_date(desk):
    review = desk.start()
    with desk.scope():
        Review.objects.filter(pk=review.pk).update(listed_at=timezone.now() - timedelta(days=30))

    def told() -> list[str]:
        mail.outbox.clear()
        for _time in range(2):
            desk.remind(review)
        return [each.extra_headers["X-Message"].partition(".")[0] for each in mail.outbox]

    assert told() == ["review_start"]
    for days, kinds in ((6, ["review_week"]), (20, []), (5, ["review_week"])):
        changed(desk, review, days=days)
        assert told() == kinds
    assert (timezone.now().date() + timedelta(days=5)).isoformat() in mail.outbox[0].body
    changed(desk, review, title="Late autumn", days=5)
    assert told() == []


def test_no_date_that_has_passed_is_chosen_but_one_that_passed_may_stay(desk):
    review = desk.start()
    assert "Choose today or a later date." in changed(desk, review, days=-3)
    with desk.scope():
        Review.objects.filter(pk=review.pk).update(due_on=timezone.now().date() - timedelta(days=3))
    assert "Saved." in changed(desk, review, title="Late autumn", days=-3)


def test_a_review_that_is_over_is_not_changed(desk):
    review = desk.start()
    desk.client.post(desk.link("cancel", review.pk))
    assert "Not saved: this review has ended. See its report for the result." in changed(desk, review, days=30)
    assert acts(desk) == []
