"""Guests' codes: never two valid ones by accident, and a code that was cut short ends, even if workers are killed."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.base.timers.clock import ClockTime
from portal.domain.intents.models import LOST_REPEATABLE_CLAIM_SECONDS, Intent, State
from portal.domain.visits.models import Stage as VisitStage
from portal.domain.visits.models import Visit
from tests.support import faults
from tests.support.browser import Browser, gist
from tests.support.faults import Exchange, Gate
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import PATIENCE, until

CREATE = 20


def issue(browser: Browser, customer: Customer, name: str, **values: str) -> str:
    """Type a name and press Enter at the desk; return the redirect's address, or "" when the form is shown again."""
    form = browser.form(customer.url("guests/new/"), having="shown_preset")
    answer = browser.post(form.action, form.values | {"name": name, "until": "+90"} | values)
    assert answer.status_code in (200, 302), gist(answer)
    return str(answer.headers.get("Location", ""))


def press(browser: Browser, page: str, button: str) -> str:
    """Press this button of a guest's page; return the text of the next page."""
    form = browser.form(page, f"/{button}/")
    answer = browser.post(form.action, form.values)
    assert answer.status_code == 302, gist(answer)
    return gist(browser.get(answer.headers["Location"]), 100_000)


def visit_of(customer: Customer, name: str) -> Visit:
    with customer.scope():
        return Visit.objects.select_related("cut_intent", "intent").get(guest_name=name)


def at_service(customer: Customer, name: str) -> list[dict[str, Any]]:
    """Return every guest of this name, as the service lists them."""
    query = {"limit": 1000, "fields": "use_date_start,use_date_end"}
    found = customer.house.sandbox.api("GET", "/v1/guests", token=customer.service.token, params=query).json()
    return [guest for guest in found["guests"] if guest["guest_name"] == name]


def end_of(customer: Customer, name: str) -> datetime:
    (guest,) = at_service(customer, name)
    return datetime.fromisoformat(guest["use_date_end"])


def age(house: House, customer: Customer) -> None:
    """Make leases and claims of a killed worker look old enough to be taken over, instead of waiting for it."""
    with customer.scope():
        for intent in Intent.objects.filter(state=State.SENDING):
            customer.age(intent, LOST_REPEATABLE_CLAIM_SECONDS)
        minute = timedelta(minutes=1)
        for visit in Visit.objects.filter(cut_due_at__isnull=False):
            Visit.objects.filter(pk=visit.pk).update(cut_due_at=visit.cut_due_at - minute)


def lose_everything(house: House, customer: Customer) -> None:
    """Kill the workers, and lose all messages of the broker."""
    house.urgent.kill()
    with house.redis() as redis:
        redis.flushall()
    age(house, customer)


def test_a_cut_code_dies_though_answers_are_lost_the_worker_is_killed_and_the_broker_forgets(
    house: House, stage: Stage
) -> None:
    customer = stage.customer()
    with customer.browser("receptionist") as browser:
        kept = issue(browser, customer, "Kept")
        pages = {name: issue(browser, customer, name) for name in ("Heard", "Unheard")}
        paths = {name: re.escape(page.rstrip("/").rpartition("/")[2]) for name, page in pages.items()}
        # One request works but its answer is lost, the other does not arrive. The reading that would show it is lost,
        # too.
        stage.proxy.on(rf"PUT .*/v1/guests/{paths['Heard']}", faults.reset_after, times=1)
        stage.proxy.on(rf"PUT .*/v1/guests/{paths['Unheard']}", faults.reset_before, times=1)
        held = {}
        for name, path in paths.items():
            stage.proxy.on(rf"GET .*/v1/guests/{path}", faults.reset_before, times=1)
            held[name] = stage.proxy.on(rf"PUT .*/v1/guests/{path}", Gate(), times=1, skip=1)
        for page in pages.values():
            assert "may still open doors" in press(browser, page, "cut")
        assert end_of(customer, "Heard") <= timezone.now() < end_of(customer, "Unheard")
        held["Unheard"].wait(PATIENCE)  # a worker is about to send the second request
        lose_everything(house, customer)
        banner = gist(browser.get(customer.url("guests/")), 100_000)
        assert all(f"{name}’s code may still open doors" in banner for name in pages)
        for rule in held.values():
            stage.proxy.rules.remove(rule)
        house.urgent.start()
        for name in pages:
            until(confirmed(customer, name), saying=f"the cut of {name} is confirmed")
            assert end_of(customer, name) <= visit_of(customer, name).must_end_at <= timezone.now()
        assert "may still open doors" not in gist(browser.get(customer.url("guests/")), 100_000)
        assert kept
        assert end_of(customer, "Kept") > timezone.now(), "nobody else's code was touched"


def no_such_period(exchange: Exchange) -> None:
    """Refuse a period without length, and one that is over, as a service may do."""
    body = json.loads(exchange.request.body)
    start, end = (datetime.fromisoformat(body[name]) if name in body else None for name in _HOURS)
    if (end is not None and end <= timezone.now()) or (start is not None and start == end):
        detail = json.dumps({"message": "Bad Request", "error_code": "40002", "error_detail": "use_date_end"})
        faults.answer(400, detail.encode())(exchange)
    else:
        exchange.reply(exchange.forward())


_HOURS = ("use_date_start", "use_date_end")


def test_a_code_dies_at_a_service_that_takes_no_empty_and_no_past_period_though_the_worker_is_killed(
    house: House, stage: Stage
) -> None:
    customer = stage.customer()
    tomorrow = f"{timezone.localtime() + timedelta(days=1):%Y-%m-%dT%H:%M}"
    with customer.browser("receptionist") as browser:
        pages = {"Begun": issue(browser, customer, "Begun"), "Later": issue(browser, customer, "Later", start=tomorrow)}
        old = {name: code_of(customer, name) for name in pages}
        stage.proxy.on(r"PUT .*/v1/guests/", faults.reset_before, times=1)
        stage.proxy.on(r"PUT .*/v1/guests/", no_such_period)
        for page in pages.values():
            press(browser, page, "cut")
        lose_everything(house, customer)
        house.urgent.start()
        for name in pages:
            until(confirmed(customer, name), saying=f"the cut of {name} is confirmed")
            assert code_of(customer, name) != old[name], "the old code opens nothing"
            assert end_of(customer, name) < timezone.now() + timedelta(minutes=2)
        assert "may still open doors" not in gist(browser.get(customer.url("guests/")), 100_000)


def code_of(customer: Customer, name: str) -> str:
    (guest,) = at_service(customer, name)
    path = f"/v1/guests/{guest['guest_id']}"
    return str(customer.house.sandbox.api("GET", path, token=customer.service.token).json()["qrcode_data"])


def confirmed(customer: Customer, name: str) -> Callable[[], bool]:
    """Return a check whether this guest's cut is confirmed. It skips the pause before another try."""

    def look() -> bool:
        with customer.scope():
            for intent in Intent.objects.filter(state=State.QUEUED, due_at__gt=ClockTime()):
                customer.age(intent)
        return visit_of(customer, name).ended_confirmed_at is not None

    return look


@pytest.mark.quick
def test_a_lost_answer_makes_one_guest_and_a_second_attempt_waits_until_reading_found_it(
    house: House, stage: Stage
) -> None:
    customer = stage.customer()
    creations = r"POST .*/v1/guests( |\?|$)"
    with customer.browser("receptionist") as browser, customer.browser("owner") as other:
        with house.urgent.paused():  # no worker reads yet
            with stage.proxy.during(creations, faults.reset_after, times=1):
                issue(browser, customer, "山田 太郎")
            asked = visit_of(customer, "山田 太郎")
            assert (asked.stage, asked.guest_id, asked.intent.state) == (VisitStage.REQUESTED, None, State.UNCERTAIN)
            for person in (browser, other):  # confirming the name does not help either
                assert issue(person, customer, "山田 太郎") == ""
                assert issue(person, customer, "山田　太郎", confirmed=str(asked.pk)) == ""
        until(lambda: visit_of(customer, "山田 太郎").guest_id, saying="reading found the guest")
    (guest,) = at_service(customer, "山田 太郎")
    found = visit_of(customer, "山田 太郎")
    assert (found.guest_id, found.stage, found.intent.state) == (guest["guest_id"], VisitStage.ISSUED, State.SUCCEEDED)
    assert len(customer.calls(CREATE)) == stage.proxy.count(creations) == 1
