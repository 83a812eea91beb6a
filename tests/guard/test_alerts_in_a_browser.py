"""A guard's browser counts the unassigned alerts, and notifies of a new one once, in any number of tabs."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from portal.domain import events
from portal.domain.alerts.models import Alert, DetectionState
from portal.domain.events import MirrorKind
from tenants.scope import tenant_scope
from tests.support.log import happened, loaded, record
from tests.support.waiting import until

ONE = re.compile(r"^\(1\) ")
# Records the notifications and sounds, instead of showing and playing them.
NOTED = """
globalThis.shown = []; globalThis.played = 0;
globalThis.Notification = class extends EventTarget {
  static permission = "default";
  static async requestPermission() { return (Notification.permission = "granted"); }
  constructor(title, { body }) { super(); shown.push(body); }
};
const tone = { frequency: {}, connect() {}, start() {}, stop() {}, addEventListener() {} };
globalThis.AudioContext = class { constructor() { played += 1; } createOscillator() { return tone; } };
"""


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        DetectionState.objects.create(tenant=place.tenant, since=timezone.now() - timedelta(days=1))
    loaded(place)
    return place


def happen(place, device):
    moment = timezone.now() - timedelta(minutes=1)
    about = {"category": "suspicious", "content": "forced_open", "device_id": device, "device_name": device}
    rows = happened(place, record(moment, **about))
    with tenant_scope(place.tenant):
        events.publish(MirrorKind.HISTORIES, place.tenant, histories=rows)


def look(page):
    """Refresh the notices, as the page does every few seconds."""
    with page.expect_response("**/banners/"):
        page.evaluate("document.getElementById('banners').dispatchEvent(new Event('look'))")


@pytest.mark.django_db(transaction=True)
def test_the_title_counts_and_one_of_two_tabs_tells_of_a_new_alert_once(one, open_page):
    at = reverse("alerts:notify", args=[one.tenant.slug])
    page = open_page(one.client(one.staff("guard")))
    page.context.add_init_script(NOTED)
    page.goto(at)
    page.get_by_label("Play a sound for a new alert").check()
    page.get_by_role("button", name="Show notifications").click()
    page.get_by_role("button", name="Stop notifications").wait_for()
    other = page.context.new_page()
    other.goto(at)
    for tab in (page, other):
        tab.evaluate("Notification.permission = 'granted'")
    happen(one, "D2")
    look(page)
    look(other)
    expect(page).to_have_title(ONE)
    expect(other).to_have_title(ONE)
    until(lambda: page.evaluate("shown.length"), saying="the first tab tells")
    assert page.evaluate("shown") + other.evaluate("shown") == ["Door forced open"]
    happen(one, "D3")
    look(other)
    look(page)
    until(lambda: other.evaluate("shown.length"), saying="the other tab tells")
    assert page.evaluate("shown") + other.evaluate("shown") == ["Door forced open"] * 2
    assert page.evaluate("played") + other.evaluate("played") == 2
    other.close()


@pytest.mark.django_db(transaction=True)
def test_nothing_is_shown_before_a_person_has_asked_for_it(one, open_page):
    page = open_page(one.client(one.staff("guard")))
    page.context.add_init_script(NOTED)
    page.goto(reverse("alerts:notify", args=[one.tenant.slug]))
    happen(one, "D2")
    look(page)
    expect(page).to_have_title(ONE)
    assert page.evaluate("shown") == []


@pytest.mark.django_db(transaction=True)
def test_focus_stays_at_the_assignment_whoever_changes_it(one, open_page):
    happen(one, "D2")
    with tenant_scope(one.tenant):
        alert = Alert.objects.get()
    at = reverse("alerts:alert", args=[one.tenant.slug, alert.pk])
    page = open_page(one.client(one.staff("guard")))
    page.goto(at)
    for before, after in (("Assign to me", "Unassign"), ("Unassign", "Assign to me")):
        page.get_by_role("button", name=before, exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name=after, exact=True)).to_be_focused()
    one.client(one.owner).post(reverse("alerts:take", args=[one.tenant.slug, alert.pk]))
    page.evaluate("document.getElementById('alert-now').dispatchEvent(new Event('look'))")
    expect(page.locator("#alert-assign")).to_contain_text("Assigned to")
    expect(page.locator("#alert-assign")).to_be_focused()
