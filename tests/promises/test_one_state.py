"""One state: what the portal can know of a door is on every page within ten seconds, and no page keeps an old state."""

import secrets
import time
from collections.abc import Callable
from typing import Any

import pytest

from portal.domain.events import MirrorKind
from portal.domain.intents.nonces import Nonce
from portal.domain.places import door_states
from portal.domain.places.models import PassController
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from portal.webhooks import actions
from portal.webhooks.actions import WebhookChange
from tests.support.chromium import Tabs
from tests.support.hooks import all_categories
from tests.support.house import House
from tests.support.one_state import PAGES, Kept, said_on
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

SOON = 10


@pytest.fixture
def customer(house: House, stage: Stage, settings: Any) -> Customer:
    """Return a tenant whose doors were read and whose webhook is on."""
    settings.PORTAL_URL = house.url
    customer = stage.customer(behaviour={"relock_seconds": 5, "device_seconds": 0})
    schedule.schedule_all(customer.tenant)
    with customer.scope():
        until(
            lambda: MirrorState.objects.filter(kind=MirrorKind.HISTORIES, as_of__isnull=False).exists(), saying="a log"
        )
        categories = all_categories(customer.tenant)
        asked = {"by": customer.asker(), "nonce": Nonce(secrets.token_urlsafe(12)), "categories": categories}
        intent = actions.submit_change(change=WebhookChange.ON, **asked)
    assert customer.settled(intent).state == "succeeded"
    with customer.scope():
        PassController.objects.exclude(device_id=customer.doors[0]).delete()
        door_states.request_reading(customer.doors[0])  # its regular turn comes once a minute
    until(lambda: row_of(customer).status_as_of is not None, saying="the door is read")
    return customer


def row_of(customer: Customer) -> PassController:
    with customer.scope():
        return PassController.objects.get(device_id=customer.doors[0])


def _pages(customer: Customer) -> dict[str, str]:
    return PAGES | {"door": f"devices/{customer.doors[0]}/"}


def takes(customer: Customer, state: str, *, but: tuple[str, ...] = ()) -> float:
    """Wait until all pages show the door in this state, and none another one; return the seconds."""
    began, name = time.monotonic(), str(row_of(customer))
    pages = {page: rest for page, rest in _pages(customer).items() if page not in but}

    def said() -> dict[str, str]:
        return {page: said_on(page, browser.get(customer.url(rest)).text, name) for page, rest in pages.items()}

    with customer.browser() as browser:
        until(lambda: set(said().values()) == {state}, 60, saying=lambda: f"all pages say {state}: {said()}")
    return time.monotonic() - began


@pytest.mark.quick
def test_a_lost_line_and_its_return_are_on_every_page_soon(customer: Customer, figure: Callable[..., None]) -> None:
    where = {"tenant_id": customer.service.tenant_id, "device_id": customer.doors[0]}
    customer.house.sandbox.console("devices", **where, is_connected=False)
    lost = takes(customer, "Offline")
    assert row_of(customer).since is not None
    customer.house.sandbox.console("devices", **where, is_connected=True)
    back = takes(customer, "Locked", but=("overview",))
    figure("one state", "offline, and locked again, on all pages", f"{lost:.1f} s, {back:.1f} s", f"under {SOON} s")
    assert max(lost, back) < SOON


@pytest.mark.soak  # eight pages in a browser take a minute and a half
def test_pages_that_stay_open_follow_a_lost_line_and_its_return_at_their_own_pace(
    customer: Customer, figure: Callable[..., None], open_tab: Tabs
) -> None:
    name, where = str(row_of(customer)), {"tenant_id": customer.service.tenant_id, "device_id": customer.doors[0]}
    with customer.browser() as browser:
        page = open_tab(customer.house.url)
        session = [{"name": each.name, "value": each.value or ""} for each in browser.http.cookies.jar]
        page.context.add_cookies([{**each, "url": customer.house.url} for each in session])
        kept = Kept(page, {each: customer.url(rest) for each, rest in _pages(customer).items()})
        kept.come_to_say(name, "Locked", not_on=("overview",))
        took = []
        for is_connected, state, calm in ((False, "Offline", ()), (True, "Locked", ("overview",))):
            customer.house.sandbox.console("devices", **where, is_connected=is_connected)
            began = time.monotonic()
            kept.come_to_say(name, state, not_on=calm, seconds=60)
            took.append(time.monotonic() - began)
    words = " s, ".join(f"{seconds:.1f}" for seconds in took)
    figure("one state", "offline, and locked again, on all open pages", f"{words} s", f"under {SOON} s")
    assert max(took) < SOON


@pytest.mark.quick
def test_a_momentary_unlock_is_over_on_every_page_soon_after_it_is_over(
    customer: Customer, figure: Callable[..., None]
) -> None:
    until(lambda: row_of(customer).state == "locked", saying="the door is locked")
    read_before = len(customer.calls(26))
    assert customer.settled(customer.unlock()).state == "succeeded"
    takes(customer, "Unlocked", but=("overview",))
    assert not row_of(customer).attention
    over = takes(customer, "Locked", but=("overview",))
    spent = len(customer.calls(26)) - read_before
    figure(
        "one state",
        "a momentary unlock of 5 s: over on all pages, readings",
        f"{over:.1f} s, {spent}",
        "at most 20 s, 2",
    )
    assert over < 2 * SOON
    assert spent <= 2
