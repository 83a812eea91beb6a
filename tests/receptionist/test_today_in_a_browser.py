"""The desk by keyboard, in a real browser: search, select, check in, undo; redrawing keeps focus and input."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.receptionist.desk import again, visit
from tests.support.accessibility import barriers


@pytest.fixture
def page(open_page, place) -> Page:
    return open_page(place.client(place.staff("receptionist")))


def test_the_keyboard_is_enough_and_the_redrawing_takes_nothing_away(place, page):
    at = f"/t/{place.tenant.slug}/guests/"
    tanaka, sato = visit(place, "田中 一郎", host_name="鈴木"), visit(place, "佐藤 花子", start=-0.5)
    page.goto(at)
    search, rows, done = page.locator("#desk-q"), page.locator("[data-guest]"), page.locator("#desk-done")
    page.keyboard.press("/")
    expect(search).to_be_focused()
    search.press_sequentially("鈴木 nal")  # the desk's shortcut keys are letters here
    expect(page.get_by_text("No guest called “")).to_be_visible()
    search.fill("鈴木")
    expect(rows).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"#v{tanaka.pk}")).to_be_focused()
    page.keyboard.press("a")
    expect(done).to_contain_text("田中 一郎 on site since")
    expect(page.locator(f"#v{tanaka.pk}")).to_be_focused()
    expect(page.locator("#count-here b")).to_have_text("1")
    page.keyboard.press("u")
    expect(done).to_contain_text("is not checked in")
    assert again(place, tanaka).arrived_at is None

    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(rows).to_have_count(2)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"#v{sato.pk}")).to_be_focused()
    visit(place, "新規 来訪", arrived_at=timezone.now(), arrived_by="desk")
    page.evaluate("htmx.trigger('#board', 'outcome-known')")
    expect(rows).to_have_count(3)
    expect(page.locator(f"#v{sato.pk}")).to_be_focused()
    assert barriers(page) == []

    page.keyboard.press("Enter")
    page.wait_for_url(f"**{at}{sato.guest_id}/")
    page.goto(at)
    page.keyboard.press("b")
    page.wait_for_url(f"**{at}building/")
    expect(page.get_by_text("At least 1 in the building")).to_be_visible()
    assert barriers(page) == []
    page.goto(f"{at}month/")
    assert barriers(page) == []
    page.goto(at)
    page.keyboard.press("n")
    page.wait_for_url(f"**{at}new/")


def test_what_was_done_is_said_also_when_the_board_was_drawn_anew_meanwhile(place, page):
    sato = visit(place, "佐藤 花子")
    page.goto(f"/t/{place.tenant.slug}/guests/")
    redraw = """() => document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
      const asked = detail.elt.closest("tr, li, form");
      asked.replaceWith(asked.cloneNode(true));
    }, { once: true })"""
    page.evaluate(redraw)
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.locator("#desk-done")).to_contain_text("佐藤 花子 on site since")
    assert again(place, sato).arrived_at is not None


def test_a_key_pressed_twice_and_a_double_click_never_act_on_the_next_guest(place, page):
    here = {"arrived_at": timezone.now(), "arrived_by": "desk"}
    guests = [visit(place, name, **here) for name in ("一郎", "二郎", "三郎", "四郎")]
    page.goto(f"/t/{place.tenant.slug}/guests/")
    rows, done = page.locator("[data-guest]"), page.locator("#desk-done")
    expect(rows).to_have_count(4)
    page.keyboard.press("j")
    page.keyboard.press("l")
    expect(rows).to_have_count(3)
    page.keyboard.press("l")
    page.keyboard.press("a")
    page.evaluate("htmx.trigger('#board', 'outcome-known')")
    page.keyboard.press("l")
    page.keyboard.press("j")
    expect(rows.first).to_be_focused()
    rows.nth(1).get_by_role("button", name="Check out").dblclick()
    expect(rows).to_have_count(2)
    expect(done).to_contain_text("left at")
    page.keyboard.press("u")
    expect(rows).to_have_count(3)
    page.keyboard.press("u")
    expect(rows).to_have_count(4)
    assert all(again(place, guest).left_at is None for guest in guests)
