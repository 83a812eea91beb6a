"""A reviewer's browser: deciding by keyboard, one line after the other, also over a connection that breaks."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from portal.areas import access_counts
from portal.base.ui.models import ListChoice
from portal.domain.people.models import Member
from portal.reviews.models import Step
from tests.support.accessibility import barriers
from tests.support.reviews import NOTHING, ReviewsDesk, option


@pytest.fixture
def desk(place) -> ReviewsDesk:
    return ReviewsDesk(place)


@pytest.fixture
def decider(desk, open_page) -> Page:
    return open_page(desk.decider)


def ordered(desk: ReviewsDesk) -> list[Member]:
    """Return the holders in the list's order."""
    return sorted(desk.holders, key=lambda member: (member.name_key, member.pk))


def grown(desk: ReviewsDesk, n: int) -> Member:
    """Create one more member with a loaded right to the area."""
    rights = {"devices_pass": option(desk.area.area_id), "keys_pass": None, "privilege": None}
    told = {"member_name": f"野村 {n:03}", "name_key": f"野村 {n:03}", "rights": rights}
    row = Member.objects.create(member_id=f"grown-{n:03}", rights_read_at=timezone.now(), **told)
    access_counts.update_grants(desk.place.tenant, [row])
    return row


def test_rights_are_decided_by_keyboard(desk: ReviewsDesk, decider: Page) -> None:
    review = desk.start()
    decider.goto(desk.link("decide", review.pk))
    expect(decider.get_by_text("0 of 3 done")).to_be_visible()
    for key in "cwc":
        decider.keyboard.press(key)
    expect(decider.locator("#review-left")).to_have_text("3 of 3 done")
    expect(decider.locator("tbody").get_by_text("To be withdrawn")).to_have_count(1)
    decider.keyboard.press("k")
    decider.keyboard.press("u")
    expect(decider.locator("#review-left")).to_have_text("2 of 3 done")
    assert barriers(decider) == []
    decider.set_viewport_size({"width": 390, "height": 844})
    assert barriers(decider) == []
    assert decider.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_a_reviewer_granted_is_greyed_and_passed_over_by_keyboard(desk: ReviewsDesk, open_page) -> None:
    granted, *others = ordered(desk)
    desk.hold(granted, NOTHING)
    desk.run(desk.prepared("grant", [granted]))
    review = desk.start(desk.user)
    page = open_page(desk.client)
    page.goto(desk.link("decide", review.pk))
    expect(page.get_by_text("0 of 2 done")).to_be_visible()
    for key in "cc":
        page.keyboard.press(key)
    expect(page.locator("#review-left")).to_have_text("2 of 2 done")
    expect(page.get_by_text("You have decided all rights that you can decide.")).to_be_visible()
    expect(page.locator("tr.quiet").get_by_text("You granted this access on")).to_have_count(1)
    assert [desk.item(review, each).decision for each in (granted, *others)] == ["", "confirm", "confirm"]
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 844})
    page.goto(desk.link("page", review.pk))
    expect(page.get_by_text("1 right without a reviewer who can decide")).to_be_visible()
    assert barriers(page) == []


def test_a_decision_whose_answer_is_lost_is_sent_again_and_kept_once(
    desk: ReviewsDesk, decider: Page, open_tab
) -> None:
    open_tab.excused.append("ERR_CONNECTION_RESET")
    review = desk.start()
    asked: list[str] = []

    def lose_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    # Before the page opens: an open page may send one more request past a new route.
    decider.route(re.compile("/press/"), lose_first)
    decider.goto(desk.link("decide", review.pk))
    decider.keyboard.press("c")
    expect(decider.locator("#review-left")).to_have_text("1 of 3 done")
    assert len(asked) == 2
    with desk.scope():
        assert Step.objects.filter(item__review=review).count() == 1


def test_what_was_not_saved_is_named_and_the_mark_stays_where_it_is(desk: ReviewsDesk, decider: Page) -> None:
    review = desk.start()
    first, second, third = ordered(desk)
    decider.goto(desk.link("decide", review.pk))
    desk.know(first, {"default_mode": "allow_all"})
    for _time in range(2):
        decider.keyboard.press("c")
    refused = decider.locator("#review-refused")
    expect(refused).to_contain_text(f"{first.member_name}: Not saved: the right has changed.")
    expect(decider.locator("#review-left")).to_have_text("1 of 3 done")
    expect(decider.locator("tr.here")).to_contain_text(third.member_name)
    decider.keyboard.press("c")
    expect(decider.locator("#review-left")).to_have_text("2 of 3 done")
    expect(decider.locator("tr.here")).to_have_count(0)
    decider.keyboard.press("c")  # marks the row of the changed right, and decides nothing
    expect(decider.locator("tr.here")).to_contain_text(first.member_name)
    expect(refused).to_contain_text(first.member_name)
    assert desk.item(review, first).decision == ""
    decider.keyboard.press("c")
    expect(decider.locator("#review-left")).to_have_text("3 of 3 done")
    expect(refused).to_have_text("")
    expect(decider.get_by_text("You have decided everything.")).to_be_visible()
    assert desk.item(review, second).decision == "confirm"


def test_a_double_click_does_not_undo_what_its_first_click_decided(desk: ReviewsDesk, decider: Page) -> None:
    review = desk.start()
    decider.goto(desk.link("decide", review.pk))
    place = decider.get_by_role("button", name="Confirm:").first.bounding_box()
    assert place is not None
    x, y = place["x"] + 8, place["y"] + 8
    decider.mouse.click(x, y)
    expect(decider.locator("#review-left")).to_have_text("1 of 3 done")
    expect(decider.get_by_role("button", name="Undo:")).to_be_visible()
    decider.mouse.move(x, y)
    decider.mouse.down(click_count=2)
    decider.mouse.up(click_count=2)
    decider.keyboard.press("c")
    expect(decider.locator("#review-left")).to_have_text("2 of 3 done")


def test_the_keys_go_on_to_the_next_page(desk: ReviewsDesk, decider: Page) -> None:
    for member in desk.people[3:]:
        desk.hold(member, option(desk.area.area_id))
    with desk.scope():
        ListChoice.objects.create(user=desk.reviewer, table="review-mine", size=25)
        known = Member.objects.all()
        for n in range(40 - known.count()):
            grown(desk, n)
    review = desk.start()
    decider.goto(desk.link("decide", review.pk))
    expect(decider.locator("#review-left")).to_have_text("0 of 40 done")
    for done in range(1, 41):
        # Until the next page is loaded, the mark stays on the last right of this page, which is decided.
        decider.locator("tr.here:not(.review-saving) button[data-key=c]").wait_for()
        decider.keyboard.press("c")
        expect(decider.locator("#review-left")).to_have_text(f"{done} of 40 done")
    expect(decider.get_by_text("You have decided everything.")).to_be_visible()


def test_decisions_wait_for_whoever_was_signed_out_and_are_sent_then(
    desk: ReviewsDesk, decider: Page, open_tab
) -> None:
    open_tab.excused.append("403")
    review = desk.start()
    decider.goto(desk.link("decide", review.pk))
    kept = decider.context.cookies()
    decider.context.clear_cookies(name="sessionid")
    decider.keyboard.press("c")
    expect(decider.get_by_text("You are signed out.")).to_be_visible()
    decider.context.clear_cookies()
    decider.context.add_cookies([each for each in kept if each["name"] == "sessionid"])  # with another form's token
    expect(decider.locator("#review-left")).to_have_text("1 of 3 done", timeout=15000)
    expect(decider.get_by_text("You are signed out.")).to_be_hidden()
