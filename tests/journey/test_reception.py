"""A walk-in at the reception desk, with the keyboard only: from the empty desk to a code that a reader can read."""

import io
import time

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Page, expect

from portal.domain.people.models import Guest
from portal.domain.visits.models import Preset, Visit
from tests.support.stage import PASSWORD, Customer, Stage

CREATE = 20
SERVICE_SECONDS = 0.2
# Forty words a minute: a receptionist types while a guest speaks to them.
KEY_SECONDS = 0.2
# The required time from the empty desk to a code that can be scanned.
MOST_SECONDS = 10.0
# The machine may be busy for a moment, so only the quickest of these guests counts.
GUESTS = ("Aiko Tanaka", "Ken Sato", "Yui Abe")


@pytest.fixture
def customer(stage: Stage) -> Customer:
    """Return a desk with a preset, at a service that answers every call in 200 ms."""
    customer = stage.customer()
    with customer.scope():
        Preset.objects.create(name="Meeting", name_ja="会議", minutes=90, is_default=True)
        Preset.objects.create(name="Works", name_ja="工事", minutes=480, position=1)
    stage.house.sandbox.fault("latency", tenant_id=customer.service.tenant_id, count=1000, seconds=SERVICE_SECONDS)
    return customer


def test_a_walk_in_has_a_scannable_code_in_ten_seconds_of_keystrokes(page, customer, capsys):
    sign_in(page, customer)
    taken = []
    for name in GUESTS:
        taken.append(walk_in(page, customer, name))
        if taken[-1] < MOST_SECONDS:
            break
    with capsys.disabled():
        print(f"\nwalk-in, empty desk to scannable code: {min(taken):.2f} s ({KEY_SECONDS} s a key, service 0.2 s)")
    assert min(taken) < MOST_SECONDS


def sign_in(page: Page, customer: Customer) -> None:
    """Sign in. This is not timed: it happens once in the morning."""
    page.goto("/accounts/login/")
    page.fill("input[name=login]", customer.staff("receptionist").email)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/accounts/" not in address)


def walk_in(page: Page, customer: Customer, name: str) -> float:
    """Return the seconds from the first key to a code on the screen. The screenshot must then be readable."""
    before = len(customer.calls(CREATE))
    page.goto(customer.url("guests/"))
    expect(page.locator("#board, .desk-keys").first).to_be_visible()
    began = time.monotonic()
    key(page, "n")
    expect(page.locator("input[name=name]")).to_be_focused()
    page.keyboard.type(name, delay=KEY_SECONDS * 1000)
    key(page, "Tab")
    page.keyboard.type("+90", delay=KEY_SECONDS * 1000)
    key(page, "Tab")
    key(page, "ArrowDown")
    key(page, "Enter")
    expect(page.locator(".guest-code svg.qr")).to_be_visible()
    seconds = time.monotonic() - began

    with customer.scope():
        visit = Visit.objects.select_related("preset").get(guest_name=name)
        code = Guest.objects.get(guest_id=visit.guest_id).qrcode_data
        assert visit.preset is not None
        assert visit.preset.name == "Works"
    assert [found.text for found in zxingcpp.read_barcodes(seen(page))] == [code]
    assert len(customer.calls(CREATE)) == before + 1
    return seconds


def key(page: Page, name: str) -> None:
    """Press one key, at a person's speed."""
    page.keyboard.press(name)
    time.sleep(KEY_SECONDS)


def seen(page: Page) -> Image.Image:
    """Return what the screen shows, without scrolling."""
    return Image.open(io.BytesIO(page.screenshot())).convert("L")
