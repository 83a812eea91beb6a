"""The desk and a door on a phone: results are visible, and nothing is wider than its card."""

import re
import uuid

from playwright.sync_api import Page, expect

from portal.domain.places.models import PassController
from tenants.scope import tenant_scope
from tests.receptionist.desk import visit

LONG = "寿限無寿限無五劫の擦り切れ海砂利水魚の水行末雲来末風来末食う寝る処に住む処"
# Finds links and buttons that are wider than their card, and names that a button leaves no room.
_OUTSIDE = """() => [...document.querySelectorAll("main :is(a, button)")].filter((each) => {
  const box = each.getBoundingClientRect();
  const card = each.closest(".panel, .outcome, .note, .guest, .tally, .list-scroll, .banner")?.getBoundingClientRect();
  return box.width && card && (box.right > card.right + 1 || box.left < card.left - 1);
}).map((each) => each.outerHTML.slice(0, 120))"""


def assert_tidy(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(_OUTSIDE) == []


def test_at_the_desk_what_was_done_is_in_sight_however_far_down_the_row_was(place, open_page):
    party = uuid.uuid4()
    guests = [visit(place, LONG, host_name=LONG, party=party if n < 2 else None) for n in range(10)]
    page = open_page(place.client(place.staff("receptionist")), f"/t/{place.tenant.slug}/guests/", width=390)
    assert_tidy(page)
    assert page.locator(f"#v{guests[0].pk} .g-who").bounding_box()["width"] > 200
    page.locator("[data-do=a]").last.click()
    expect(page.locator("#desk-done")).to_contain_text("on site since")
    expect(page.locator("#desk-done [data-undo]")).to_be_in_viewport(ratio=1)
    assert_tidy(page)


def test_a_page_opens_at_the_outcome_of_what_was_asked_with_focus_on_it(place, open_page):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="mock_succeeded", device_name=f"{LONG} 入口")
    user = place.staff("guard")
    user.email = f"{'a' * 40}@guards.sakura-building.example"
    user.save()
    page = open_page(place.client(user), width=390)
    page.set_viewport_size({"width": 390, "height": 500})
    page.goto(f"/t/{place.tenant.slug}/devices/mock_succeeded/")
    page.get_by_role("button", name="Unlock", exact=True).click()
    page.wait_for_url(re.compile("#outcome-"))
    outcome = page.locator("[data-state]").first
    expect(outcome.locator(".outcome-title")).to_be_in_viewport(ratio=1)
    expect(outcome).to_be_focused()
    assert_tidy(page)
