"""Withdrawn rights: the next request is refused, and no waiting work is sent any more."""

import random
import time
from collections.abc import Callable
from datetime import datetime

import pytest
from django.utils import timezone

from portal.domain.intents.models import State
from tenants.models import Staff, User
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

# Seconds from the last check of the rights to the service's record, on a machine that is busy with this test.
ON_ITS_WAY = 0.5


def withdraw(customer: Customer, user: User) -> datetime:
    """Remove the person's role; return the moment at which that was committed."""
    with customer.scope():
        assert Staff.objects.filter(user=user).update(is_active=False) == 1
    return timezone.now()


def demote(customer: Customer, user: User) -> None:
    with customer.scope():
        Staff.objects.filter(user=user).update(role="receptionist")


@pytest.mark.quick
def test_the_next_request_is_refused_and_queued_work_is_not_sent(house: House, stage: Stage) -> None:
    customer = stage.customer()
    guard = customer.staff("guard")
    page = customer.url(f"devices/{customer.doors[0]}/")
    with customer.browser(guard) as browser:
        form = browser.form(page, "command")
        with house.urgent.paused():
            waiting = [customer.unlock(door, by=customer.asker(guard)) for door in customer.doors[:3]]
            withdraw(customer, guard)
        assert browser.post(form.action, form.values, control="unlock").status_code == 404
        assert browser.get(page).status_code == 404
    assert {customer.settled(intent).state for intent in waiting} == {State.CANCELLED}
    assert customer.arrivals() == []


@pytest.mark.quick
def test_a_lesser_role_is_refused_with_the_reason(house: House, stage: Stage) -> None:
    customer = stage.customer()
    guard = customer.staff("guard")
    with customer.browser(guard) as browser:
        form = browser.form(customer.url(f"devices/{customer.doors[0]}/"), "command")
        demote(customer, guard)
        answer = browser.post(form.action, form.values, control="unlock")
    assert answer.status_code == 403
    assert "Unlock and lock doors" in answer.text
    assert customer.arrivals() == []


def test_withdrawn_between_claim_and_writing(house: House, stage: Stage) -> None:
    customer = stage.customer()
    guard = customer.staff("guard")
    with house.still(), stage.proxy.stalled():
        intent = customer.unlock(by=customer.asker(guard), rung=False)
        house.deliver("portal.domain.intents.tasks.send", intent.tenant_id, intent.pk, queue="doors")
        until(lambda: customer.intent(intent).state == State.SENDING, pause=0.01)
        withdraw(customer, guard)
    row = customer.settled(intent)
    assert (row.state, row.reason) == (State.CANCELLED, "rights")
    assert customer.arrivals() == []


@pytest.mark.soak
def test_a_hundred_races(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    """Unlock a door, and withdraw the right to do so at a random moment during that."""
    customer = stage.customer()
    later, sent, kept = 0, 0, 0
    for _ in range(100):
        guard = customer.staff("guard")
        intent = customer.unlock(by=customer.asker(guard))
        time.sleep(random.uniform(0, 0.12))
        at = withdraw(customer, guard)
        row = customer.settled(intent)
        arrived = [each for each in customer.arrivals() if each["request_id"] == row.request_id and row.request_id]
        sent += bool(arrived)
        kept += row.state == State.CANCELLED
        # A request that was written before the withdrawal was committed may arrive a little later.
        later += sum((datetime.fromisoformat(each["at"]) - at).total_seconds() > ON_ITS_WAY for each in arrived)
    figure("rights withdrawn", f"100 races ({sent} sent before, {kept} held back): sent later", later, "0")
    assert later == 0
