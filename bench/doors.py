"""The delay from the click to the door, and from the door to the screen. The sandbox records the times."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import httpx2
from django.db import connections

from bench.figures import Figure, ms, percentile
from bench.ground import Ground, say
from portal.domain.intents.models import Intent
from portal.domain.places.models import PassController
from tenants.models import ServiceEnvironment
from tests.support.browser import Browser
from tests.support.stage import Customer, Stage

RESULT = 34
PLENTY = {"general": 100_000, "device": 100_000}
_STATE = re.compile(r'data-state="(\w+)"')
_POLL = re.compile(r'hx-trigger="every ([\d.]+)s"')


def unlock(ground: Ground) -> list[Figure]:
    """Measure the time from the click to the request's arrival, compared with a bare POST of the same command."""
    say("clicks on unlock")
    with ground.house.stage(limits=PLENTY) as stage:
        customer = _direct(stage)
        door = customer.doors[0]
        with customer.browser("owner") as browser, httpx2.Client(base_url=ground.house.sandbox.url) as bare:
            _click(browser, customer, door)
            clicks, posts = [], []
            for _ in range(ground.sizes.clicks):
                clicks.append(_after(customer, lambda: _click(browser, customer, door)))
                posts.append(_after(customer, lambda: _post(bare, customer, door)))
    ours, other = percentile(clicks, 0.95), percentile(posts, 0.95)
    return [
        Figure(
            "click on unlock to arrival, p95",
            ms(ours),
            f"bare POST {ms(other)}",
            (ours - other) * 1000,
            ("<=", 50),
            ground.sizes.again("unlock", clicks=ground.sizes.clicks),
            "the value is the difference in milliseconds",
        )
    ]


def outcome(ground: Ground) -> list[Figure]:
    """Measure the time from the service's outcome to the screen, and the polls during a command of five seconds."""
    say("outcomes on the screen")
    with ground.house.stage(limits=PLENTY) as stage:
        customer = _direct(stage)
        device = "mock_succeeded_5"
        with customer.scope():
            PassController.objects.create(device_id=device, device_name="Mock")
        people = [customer.staff("guard") for _ in range(6)]
        with ThreadPoolExecutor(len(people)) as threads:
            late = list(threads.map(lambda user: _watched(customer, user, device), people))
        polls = len(customer.calls(RESULT)) / len(people)
    again = ground.sizes.again("outcome")
    return [
        Figure("outcome at the service to the screen, p95", f"{percentile(late, 0.95):.2f} s", "",
               percentile(late, 0.95), ("<=", 1.0), again),
        Figure("polls of a command of 5 s", f"{polls:.1f}", "", polls, ("<=", 6), again),
    ]  # fmt: skip


def _direct(stage: Stage) -> Customer:
    """Return a customer whose commands go straight to the sandbox."""
    customer = stage.customer()
    ServiceEnvironment.objects.filter(pk=stage.environment.pk).update(base_url=stage.house.sandbox.url)
    return customer


def _click(browser: Browser, customer: Customer, door: str) -> float:
    form = browser.form(customer.url(f"devices/{door}/"), having="nonce")
    clicked = time.time()
    answer = browser.post(form.action, form.values | {"control": "unlock"})
    if answer.status_code != 302:
        raise RuntimeError(f"the click was answered with {answer.status_code}")
    return clicked


def _post(http: httpx2.Client, customer: Customer, door: str) -> float:
    headers = {"Authorization": f"Bearer {customer.service.token}", "License-Key": customer.service.licence_key}
    sent = time.time()
    body = {"tag": "lock_operation", "control": "unlock", "info": "bench"}
    http.post(f"/v1/devices/passes/{door}/requests", json=body, headers=headers).raise_for_status()
    return sent


def _after(customer: Customer, act: Any) -> float:
    """Return the seconds from the click, whose time `act` returns, to the command's arrival."""
    clicked = act()
    arrived = customer.house.sandbox.commands(customer.service.tenant_id)[-1]["at"]
    return datetime.fromisoformat(arrived).timestamp() - clicked


def _watched(customer: Customer, user: Any, device: str) -> float:
    """Click, then poll as the page does.

    Return the seconds from the end of the service's five seconds to the screen's "done".
    """
    with customer.browser(user) as browser:
        _click(browser, customer, device)
        accepted = time.time()
        pause = _POLL.search(browser.get(customer.url(f"devices/{device}/")).text)
        if pause is None:
            raise RuntimeError("the page does not follow its command")
        with customer.scope():
            mine = customer.url(f"intents/{Intent.objects.get(by=user).pk}/outcome/")
        connections.close_all()
        while True:
            time.sleep(float(pause[1]))
            state = _STATE.search(browser.get(mine).text)
            if state is not None and state[1] == "done":
                return time.time() - accepted - 5
            if time.time() - accepted > 30:
                raise RuntimeError(f"not done after 30 s: {state}")
