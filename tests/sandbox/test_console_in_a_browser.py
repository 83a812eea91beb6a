"""The console in a real browser: it refreshes automatically, and is accessible."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.accessibility import barriers
from tests.support.chromium import Tabs
from tests.support.effort import one_in
from tests.support.sandbox_building import House


@pytest.fixture
def page(house: House, open_tab: Tabs) -> Page:
    return open_tab(house.sandbox.url)


def test_the_log_goes_on_by_itself_and_nothing_that_is_typed_is_lost(house: House, page: Page) -> None:
    member = house.member(card_data="CARD1")
    page.goto(f"/console/t/{house.tenant.tenant_id}/?at={house.door}&who={member}")
    page.get_by_role("button", name="Card").click()
    first = house.last()["history_id"]
    expect(page.locator(f"#log-{first}")).to_contain_text("Entry")
    page.get_by_text("Enter a card or code").click()
    page.get_by_label("Data").fill("half a ca")
    house.show("card", "NOBODY")
    newest = house.last()["history_id"]
    expect(page.locator("#log li").first).to_have_id(f"log-{newest}")
    expect(page.locator(f"#log-{newest}")).to_contain_text("unknown card")
    expect(page.get_by_label("Data")).to_have_value("half a ca")
    expect(page.get_by_label("Data")).to_be_focused()
    door = page.locator(f"#door-{house.door}")
    door.focus()
    house.sandbox.console("doors", tenant_id=house.tenant.tenant_id, device_id=house.door, action="force")
    expect(door).to_contain_text("Forced open")
    expect(door).to_be_focused()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#live")).to_contain_text("Paused")


@pytest.mark.parametrize(("scheme", "width"), one_in(2, [("dark", 390), ("light", 1440)]))
def test_the_pages_are_open_to_everybody(house: House, open_tab: Tabs, scheme: Any, width: int) -> None:
    member = house.member(card_data="CARD1", qrcode={"data": "QR1", "one_time_qr": {"enabled": True}})
    house.sandbox.console("doors", tenant_id=house.tenant.tenant_id, device_id=house.door, action="force")
    house.show("card", "NOBODY")
    house.sandbox.fault("status", 3, house.tenant.tenant_id, status=503)
    place = f"/console/t/{house.tenant.tenant_id}/"
    open_tab.excused.append("status of 404")  # the last of them
    page = open_tab(house.sandbox.url, width=width, locale="ja-JP", color_scheme=scheme, reduced_motion="reduce")
    paths = ("/console/", "/console/controls/", f"{place}?at={house.door}&who={member}", f"{place}?at={house.box}",
             f"{place}controls/", "/console/nothing")  # fmt: skip
    for path in paths:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert barriers(page, every=True) == [], path
