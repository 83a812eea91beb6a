"""The access check and the edit of an area's access in a real browser: with script, at a desk and on a phone."""

import re

import pytest
from playwright.sync_api import Page, expect

from accessapi.permissions import always, normalise_devices
from portal.domain.jobs.models import JobState
from tests.support.accessibility import barriers
from tests.support.areas import AreasDesk


@pytest.fixture
def desk(place):
    return AreasDesk(place)


def sound(page: Page) -> None:
    """Check that nothing is wider than the screen, and that axe finds nothing serious."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert barriers(page) == []


@pytest.mark.soak  # in a browser; tests/manager/test_explain.py tests questions and answers
@pytest.mark.parametrize("width", [1440, 390])
def test_a_question_is_asked_by_typing_and_choosing_and_its_address_can_be_passed_on(desk, open_page, width):
    member = desk.people[0]
    desk.know(member, {"default_mode": "option", "areas_list": [{"area_id": desk.area.area_id, "pass": always()}]},
              has_card=True, use_date_end=None, use_end_key=1 << 60)  # fmt: skip
    page = open_page(desk.client, f"/t/{desk.place.tenant.slug}/explain/", width=width)
    page.locator("#explain-q").press_sequentially(member.member_name[:2])
    page.locator(".hits a", has_text=re.sub(r"\s", "", member.member_name)[:1]).first.wait_for()
    page.goto(page.url.split("?")[0] + f"?member={member.member_id}")
    page.locator("#explain-place").select_option(f"area:{desk.area.area_id}")
    expect(page.locator(".verdict-word")).to_have_text("Yes")
    expect(page).to_have_url(re.compile(r"place=area"))
    page.locator("#explain-place").select_option(f"area:{desk.other.area_id}")
    expect(page.locator(".verdict-word")).to_have_text("No")
    expect(page.locator(".week-moment")).to_have_count(1)
    again = open_page(desk.client, page.url.partition("/t/")[2].join(["/t/", ""]), width=width)
    expect(again.locator(".verdict-word")).to_have_text("No")
    sound(again)


def test_access_is_given_to_two_members_from_choosing_to_done(desk, open_page):
    nobody = {"default_mode": "deny_all"}
    for member in desk.people[:2]:
        desk.set_at_service(member, nobody)
        desk.know(member, nobody)
    page = open_page(desk.client, desk.at())
    sound(page)
    page.get_by_role("link", name="Change access…").click()
    for member in desk.people[:2]:
        page.locator(f'input[name="id"][value="{member.pk}"]').check()
    expect(page.locator("[data-bulk]")).to_contain_text("2 selected")
    page.get_by_role("button", name="Give access…").click()
    expect(page.locator(".lead")).to_contain_text("2 members chosen")
    sound(page)
    page.get_by_role("button", name="Preview changes").click()
    expect(page.locator(".plan-of-edit")).to_contain_text("Will change")
    expect(page.locator("tbody")).to_contain_text("At any time")
    sound(page)
    page.get_by_role("button", name="Load and change").click()
    job = desk.finish(desk.job(int(re.search(r"/(\d+)/", page.url.partition("/changes")[2])[1])))
    assert job.state == JobState.DONE
    given = {"default_mode": "option", "areas_list": [{"area_id": desk.area.area_id, "pass": always()}]}
    assert [normalise_devices(desk.devices(member)) for member in desk.people[:2]] == [given, given]
    page.goto(page.url.partition("/t/")[0] + desk.at())
    expect(page.locator(".figure-large")).to_contain_text("2")
    expect(page.get_by_role("button", name="Undo…")).to_be_visible()
