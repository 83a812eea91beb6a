"""A reviewer's browser: deciding by keyboard, one line after the other, also over a connection that breaks."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from portal.reviews.models import Step
from tests.support.barriers import barriers
from tests.support.reviews import ReviewsDesk


@pytest.fixture
def desk(place) -> ReviewsDesk:
    return ReviewsDesk(place)


@pytest.fixture
def decider(desk, open_page) -> Page:
    return open_page(desk.decider)


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


def test_a_decision_whose_answer_is_lost_is_sent_again_and_kept_once(
    desk: ReviewsDesk, decider: Page, open_tab
) -> None:
    open_tab.excused.append("ERR_CONNECTION_RESET")
    review = desk.start()
    decider.goto(desk.link("decide", review.pk))
    asked: list[str] = []

    def lose_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    decider.route(re.compile("/press/"), lose_first)
    decider.keyboard.press("c")
    expect(decider.locator("#review-left")).to_have_text("1 of 3 done")
    assert len(asked) == 2
    with desk.scope():
        assert Step.objects.filter(item__review=review).count() == 1
