"""A facility manager's browser: tick, choose, look, start, and see what came of it."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import Page, expect

from portal.bulk.models import Job
from tests.support.changes import ChangesDesk
from tests.support.chromium import chromium

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PATIENCE = 30_000


@pytest.fixture
def desk(make) -> ChangesDesk:
    return ChangesDesk(make(members=60))


@pytest.fixture
def page(desk, live_server) -> Iterator[Page]:
    complaints: list[str] = []
    session = desk.client.cookies[settings.SESSION_COOKIE_NAME].value
    with chromium() as browser:
        context = browser.new_context(base_url=live_server.url, locale="en-GB")
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        yield page
        context.close()
    assert complaints == []


def barriers(page: Page) -> list[str]:
    found = Axe().run(page, options={"preload": False}).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:160]}" for each in found if each["impact"] in ("serious", "critical")
    ]


def test_all_that_match_are_suspended_and_the_page_follows_to_the_outcome(desk, page):
    page.goto(f"{desk.url}?size=25")
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name=re.compile("Select all .* that match")).click()
    page.get_by_role("button", name="Suspend…").click()
    expect(page.get_by_text("60 members are selected.")).to_be_visible()
    moment = page.locator("input[name=at]")
    expect(moment).to_be_hidden()
    page.get_by_label("At a moment:").check()
    expect(moment).to_be_visible()
    page.get_by_label("As soon as it is started").check()
    assert barriers(page) == []
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("button", name=re.compile(r"Start: change \d+ members"))).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name=re.compile("Start: change")).click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    with desk.scope():
        job = Job.objects.order_by("-pk")[0]
    desk.run(job)
    expect(page.get_by_role("button", name="Undo…")).to_be_visible(timeout=PATIENCE)  # the page found out by itself
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
