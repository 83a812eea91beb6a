"""Two wardens with phones: they see each other's ticks, and a phone without a network loses none."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import expect

from portal.rollcall.models import Tick
from tenants.models import Staff
from tenants.scope import tenant_scope
from tests.receptionist.test_roll_call import early, furnish, start  # noqa: F401 - a fixture
from tests.support.accessibility import barriers
from tests.support.codes import visit
from tests.support.waiting import until

WITHOUT_NETWORK = """
const there = fetch;
globalThis.fetch = (...asked) => sessionStorage.lost ? Promise.reject(new TypeError("no network")) : there(...asked);
"""


@pytest.fixture
def phones(place, open_page):
    furnish(place)
    clients = [place.client(place.staff(role)) for role in ("receptionist", "guard")]
    at = start(place, clients[0])
    return [open_page(client, at, width=390) for client in clients]


def row(page, name):
    return page.locator("#roll-list > li").filter(has=page.get_by_text(name, exact=True))


def tick(page, name, word="Safe"):
    row(page, name).get_by_role("button", name=f"{word}: {name}").click()


def rests(page):
    """Wait until the page is in the phone's cache and its service worker runs."""
    expect(page.locator("#roll[data-rests]")).to_have_count(1)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")


def ticks(place):
    with tenant_scope(place.tenant):
        return Tick.objects.count()


def test_two_wardens_see_each_others_ticks_within_seconds(place, phones):
    one, two = phones
    tick(one, "相沢")
    tick(two, "馬場", "Not found")
    for page in phones:
        expect(page.locator("#roll-headline")).to_have_text("1 of 3 safe, 1 unaccounted for, 1 not found")
        expect(row(page, "相沢").locator(".roll-told")).to_contain_text(re.compile(r", \d\d:\d\d"))
    row(one, "相沢").get_by_role("button", name="Undo: 相沢").click()
    expect(two.locator("#roll-headline")).to_have_text("0 of 3 safe, 2 unaccounted for, 1 not found")
    two.locator("#roll-q").fill("馬")
    expect(row(two, "相沢")).to_be_hidden()
    assert barriers(one) == []
    box = row(one, "山田").get_by_role("button", name="Safe: 山田").bounding_box()
    assert box["height"] >= 44
    assert box["width"] >= 44
    assert one.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_warden_finds_people_without_accents_and_in_any_kana(place, open_page):
    for name in ("José Ñuñez", "Łukasz Żak", "ヤマダ ハナコ"):
        visit(place, name, arrived_at=timezone.now() - timedelta(minutes=5), arrived_by="desk")
    client = place.client(place.staff("receptionist"))
    page = open_page(client, start(place, client), width=390)
    for typed, found in (
        ("jose n", "José Ñuñez"), ("JOSÉ", "José Ñuñez"), ("lukasz", "Łukasz Żak"), ("Łuk", "Łukasz Żak"),
        ("やまだ", "ヤマダ ハナコ"), ("ﾊﾅｺ", "ヤマダ ハナコ"),
    ):  # fmt: skip
        page.locator("#roll-q").fill(typed)
        expect(page.locator("#roll-list > li:visible")).to_have_count(1)
        expect(row(page, found)).to_be_visible()
    page.locator("#roll-q").fill("はなご")
    expect(page.locator("#roll-list > li:visible")).to_have_count(0)


def test_a_phone_without_a_network_keeps_its_ticks_over_a_reload_and_sends_each_once(place, phones, open_tab):
    open_tab.excused.append("ERR_INTERNET_DISCONNECTED")
    one, two = phones
    rests(two)
    lose_network(two)
    tick(two, "相沢")
    tick(two, "馬場", "Not found")
    expect(two.locator("#roll-waiting")).to_have_text(
        re.compile(r"^Offline since \d\d:\d\d, 2 not sent yet. Your check-offs are saved on this phone.$")
    )
    two.reload()
    expect(two.locator("#roll-headline")).to_have_text("1 of 3 safe, 1 unaccounted for, 1 not found")
    tick(two, "山田")
    expect(two.locator("#roll-waiting")).to_contain_text("3 not sent yet")
    assert ticks(place) == 0
    tick(one, "相沢", "Not found")
    two.evaluate("sessionStorage.removeItem('lost')")
    two.context.set_offline(False)
    expect(one.locator("#roll-headline")).to_have_text("1 of 3 safe, 0 unaccounted for, 2 not found")
    expect(two.locator("#roll-waiting")).to_be_hidden()
    assert ticks(place) == 4


def lose_network(page):
    page.context.set_offline(True)
    # With a service worker, Chromium may send requests although it is offline: block them now and after a reload.
    page.add_init_script(WITHOUT_NETWORK)
    page.evaluate(f"sessionStorage.lost = 1; {WITHOUT_NETWORK}; true")


def test_a_reload_without_a_network_shows_the_newest_list_and_one_banner(phones, open_tab):
    open_tab.excused.append("ERR_INTERNET_DISCONNECTED")
    one, two = phones
    rests(two)
    tick(one, "相沢")
    one.get_by_text("Add a person").click()
    one.locator(".roll-add input[name=name]").fill("千葉")
    one.get_by_role("button", name="Add to the list").click()
    expect(row(two, "千葉")).to_be_visible()
    tick(one, "千葉", "Not found")
    tick(two, "山田")
    expect(two.locator("#roll-headline")).to_have_text("2 of 4 safe, 1 unaccounted for, 1 not found")
    until(lambda: two.evaluate("localStorage.length") == 0, saying="nothing waits on the phone")
    lose_network(two)
    two.reload()
    expect(two.locator("#roll-headline")).to_have_text("2 of 4 safe, 1 unaccounted for, 1 not found")
    expect(row(two, "千葉")).to_have_attribute("data-status", "missing")
    expect(two.locator("#roll-waiting")).to_have_text(
        re.compile(r"^Offline since \d\d:\d\d. Your check-offs are saved on this phone.$")
    )
    expect(two.locator("#offline")).to_be_hidden()


def test_a_row_on_a_phone_has_56_pixels_and_the_buttons_that_are_possible(phones):
    one = phones[0]
    assert all(each.bounding_box()["height"] >= 56 for each in one.locator("#roll-list > li").all())
    tick(one, "相沢")
    expect(row(one, "相沢").get_by_role("button")).to_have_text(["Safe", "Undo"])
    assert row(one, "相沢").bounding_box()["height"] >= 56
    row(one, "相沢").get_by_role("button", name="Undo: 相沢").click()
    expect(row(one, "相沢").get_by_role("button")).to_have_text(["Safe", "Not found"])


CUT = "all => all.some(each => each.scrollWidth > each.clientWidth)"


def test_where_people_were_last_seen_is_never_cut_on_a_phone(place, open_page):
    company = "株式会社さくらファシリティーズ東京支社第二営業部"
    visit(place, "山田", company=company, arrived_at=timezone.now() - timedelta(minutes=5), arrived_by="desk")
    client = place.client(place.staff("receptionist"))
    page = open_page(client, start(place, client), width=390)
    expect(row(page, "山田")).to_contain_text(company)
    assert not page.locator(".roll-who, .roll-who span").evaluate_all(CUT)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_phone_that_was_signed_out_says_so_and_keeps_what_is_pressed(phones):
    two = phones[1]
    rests(two)
    two.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    tick(two, "相沢")
    expect(two.locator("#roll-waiting")).to_have_text("You are signed out. Sign in again to send your check-offs.")
    assert two.evaluate("localStorage.length") == 1


def test_a_phone_that_was_signed_in_anew_sends_what_was_kept(place, phones, open_tab):
    open_tab.excused.append("403")
    two = phones[1]
    cookies = place.client(place.staff("guard")).cookies
    two.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookies[settings.SESSION_COOKIE_NAME].value, "url": two.url}]
    )
    two.context.clear_cookies(name=settings.CSRF_COOKIE_NAME)
    tick(two, "相沢")
    expect(row(phones[0], "相沢").locator(".roll-told")).to_contain_text(re.compile(r", \d\d:\d\d"))
    assert ticks(place) == 1
    expect(two.locator("#roll-waiting")).to_be_hidden()


def test_a_phone_whose_person_may_tick_no_more_says_so(place, phones, open_tab):
    open_tab.excused.append("403")
    two = phones[1]
    with tenant_scope(place.tenant):
        Staff.objects.filter(role="guard").update(role="auditor")
    tick(two, "相沢")
    expect(two.locator("#roll-waiting")).to_have_text(
        "Check-offs not sent: you no longer have the permission “Run a roll call”. Ask an owner for it."
    )
    assert two.evaluate("localStorage.length") == 1
    assert ticks(place) == 0


def test_what_rests_on_the_phone_goes_when_the_roll_call_ends(phones):
    one, two = phones
    rests(two)
    one.get_by_text("End roll call…").click()
    one.get_by_role("button", name="End roll call", exact=True).click()
    two.wait_for_url("**/report/")
    two.wait_for_function("caches.keys().then((keys) => keys.length === 0)")
    two.wait_for_function("navigator.serviceWorker.getRegistrations().then((all) => all.length === 0)")
    assert two.evaluate("localStorage.length") == 0


def test_what_rests_on_the_phone_goes_with_signing_out(place, phones):
    two = phones[1]
    rests(two)
    two.goto("/accounts/logout/")
    two.locator("main form button, form[action*=logout] button").first.click()
    two.wait_for_url("**/accounts/login/**")
    two.wait_for_function("caches.keys().then((keys) => keys.length === 0)")
    assert two.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0


NO_TICK = """
(nonces) => {
  const { call, person } = document.getElementById("roll").dataset;
  const row = document.querySelector("#roll-list > li").dataset.id;
  const ticks = nonces.map((nonce) => ({ id: row, status: "safe", at: new Date().toISOString(), nonce }));
  localStorage.setItem(`roll-call:${location.host}:${call}:${person}`, JSON.stringify(ticks));
}
"""
NOT_SAVED = "1 check-off not saved: it could not be read. Check the list and try again."


def test_a_tick_that_cannot_be_saved_is_told_of_and_does_not_hold_up_the_others(place, phones):
    two = phones[1]
    two.evaluate(NO_TICK, ["no nonce"])
    expect(two.locator("#roll-waiting")).to_have_text(NOT_SAVED)
    expect(two.locator("#roll-headline")).to_have_text("0 of 3 safe, 3 unaccounted for, 0 not found")
    tick(two, "相沢")
    expect(row(phones[0], "相沢").locator(".roll-told")).to_contain_text(re.compile(r", \d\d:\d\d"))
    until(lambda: two.evaluate("localStorage.length") == 0, saying="nothing waits on the phone")
    assert ticks(place) == 1


def test_ticks_that_are_refused_together_are_sent_one_by_one(place, phones, open_tab):
    open_tab.excused.append("400")
    two = phones[1]
    two.route(
        "**/ticks/", lambda route: route.fulfill(status=400) if "cut" in route.request.post_data else route.continue_()
    )
    two.evaluate(NO_TICK, ["cut", "10000000-1000-4000-8000-100000000000"])
    expect(two.locator("#roll-waiting")).to_have_text(NOT_SAVED)
    expect(phones[0].locator("#roll-headline")).to_have_text("1 of 3 safe, 2 unaccounted for, 0 not found")
    until(lambda: two.evaluate("localStorage.length") == 0, saying="nothing waits on the phone")
    assert ticks(place) == 1
