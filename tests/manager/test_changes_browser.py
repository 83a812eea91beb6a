"""A facility manager's browser: select members, choose a change, preview it, start it, and see the result."""

import re

import pytest
from playwright.sync_api import Page, expect

from portal.domain.jobs.models import Job
from tests.support.accessibility import barriers
from tests.support.changes import ChangesDesk


@pytest.fixture
def desk(make) -> ChangesDesk:
    return ChangesDesk(make(members=60))


def test_all_that_match_are_suspended_and_the_page_follows_to_the_outcome(desk, page):
    page.goto(f"{desk.url}?size=25")
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name=re.compile("Select all .* that match")).click()
    page.get_by_role("button", name="Suspend…").click()
    expect(page.get_by_text("60 members selected")).to_be_visible()
    moment = page.locator("input[name=at]")
    expect(moment).to_be_hidden()
    page.get_by_label("Schedule for:").check()
    expect(moment).to_be_visible()
    page.get_by_label("Now").check()
    assert barriers(page) == []
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("button", name=re.compile(r"Change \d+ members"))).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name=re.compile(r"Change \d+ members")).click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    with desk.scope():
        job = Job.objects.order_by("-pk")[0]
    desk.run(job)
    expect(page.get_by_role("button", name="Undo…")).to_be_visible()  # the page refreshed automatically
    expect(page.get_by_role("tab", name="Done").or_(page.locator("a.tab", has_text="Done"))).to_be_visible()
    assert barriers(page) == []


def test_shift_takes_the_rows_between_two_ticks_and_lets_them_go(desk: ChangesDesk, page: Page) -> None:
    page.goto(desk.url)
    boxes = page.locator("tbody input[name=id]")
    boxes.nth(1).click()
    boxes.nth(5).click(modifiers=["Shift"])
    expect(page.locator("tbody tr.picked")).to_have_count(5)
    expect(page.locator(".bulk-count")).to_contain_text("5")
    boxes.nth(3).click(modifiers=["Shift"])  # clears 3 to 5
    expect(page.locator("tbody tr.picked")).to_have_count(2)
    boxes.nth(0).click()
    expect(page.locator("tbody tr.picked")).to_have_count(3)
