"""A busy hour: the log is read first, and without a pause while calls are free. When it stops, pages show that.

These are real processes in real time. tests/webhooks/test_busy_hour.py plays 40 minutes with moved clocks.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from accessapi.operations import CallClass
from portal.base.timers.clock import database_now
from portal.domain.budget import ledger
from portal.domain.budget.models import CallCount
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.sync.models import MirrorState
from portal.webhooks.actions import WebhookChange
from portal.webhooks.models import Webhook
from tests.support import call_budgets
from tests.support.effort import SOAK
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import until
from tests.support.webhook_customers import LOG, ask, before_us, log_of, missing, read_once, row_of

GENERAL = 720
#: Calls that lists and rights may have used, and that jobs have used: 425 calls are free.
LISTS, JOBS = 180, 115
#: Time within which a record is in the log: its reading may wait 20 s for its turn.
SOON = timedelta(seconds=40)
_BURST = """
INSERT INTO service_history (tenant_id, history_id, at, status, category, content, member, device, held_by)
SELECT %s, 'burst-' || number, %s + number * interval '15 seconds' / %s, 'occur', 'normal', 'Opened', NULL, NULL, ''
FROM generate_series(1, %s) number
"""


@pytest.fixture(autouse=True)
def portal_url(house: House, settings: Any) -> None:
    """Use the running site's address, because the service sends its notifications there."""
    settings.PORTAL_URL = house.url


@pytest.fixture
def customer(stage: Stage) -> Customer:
    """Return a tenant with a working webhook. Its lists and rights have used their share of the hour."""
    customer = read_once(stage.customer())
    ask(customer, WebhookChange.ON)
    happen(customer)
    until(lambda: row_of(customer).working == Webhook.Working.WORKING, saying="webhooks work")
    spend(customer, Priority.SYNC, LISTS)
    return customer


def happen(customer: Customer) -> None:
    """Show an unknown card at a door."""
    where = {"tenant_id": customer.service.tenant_id, "device_id": customer.doors[0]}
    customer.house.sandbox.console("present", **where, kind="card", value="0123456789")


def spend(customer: Customer, who: Priority, calls: int) -> None:
    """Record so many calls of this priority a moment ago."""
    with customer.scope():
        call_budgets.spend(customer.connection(), who, calls)


def used(customer: Customer) -> int:
    with customer.scope():
        return ledger.read_gauge(customer.connection(), CallClass.GENERAL).used


def everything_is_due(customer: Customer) -> None:
    """Make lists and rights due for reading, too."""
    with customer.scope():
        MirrorState.objects.exclude(kind=MirrorKind.HISTORIES).filter(lease=None).update(
            due_at=database_now(), woken_at=None
        )


def behind(customer: Customer) -> timedelta:
    """Return the age of the oldest record that the log does not have yet."""
    lost = missing(customer)
    rows = customer.house.sandbox.look("histories", tenant_id=customer.service.tenant_id)["histories"] if lost else []
    moments = [datetime.fromisoformat(row["datetime"]) for row in rows if row["history_id"] in lost]
    return max((customer.house.sandbox.now() - at for at in moments), default=timedelta(0))


def refused(customer: Customer) -> int:
    return sum(call["status"] == 429 for call in customer.calls())


@pytest.mark.quick
@pytest.mark.share
def test_a_record_every_three_seconds_is_in_the_log_soon_though_lists_and_rights_want_their_part(
    customer: Customer, figure: Callable[..., None]
) -> None:
    spend(customer, Priority.JOBS, JOBS)
    # A run of 12 seconds cannot be 40 behind. There the last record decides, which must be read in that time.
    seconds, pause = (10 * 60, 3.0) if SOAK else (12, 1.0)
    before, begun, worst = len(customer.calls(LOG)), time.monotonic(), timedelta(0)
    while time.monotonic() < begun + seconds:
        happen(customer)
        everything_is_due(customer)
        time.sleep(pause)
        worst = max(worst, behind(customer))
        assert log_of(customer).error == ""
    calls = len(customer.calls(LOG)) - before
    figure("busy hour", f"a record every {pause:.0f} s for {seconds} s: the log behind", worst, "under 40 s")
    figure("busy hour", "its readings", calls, "at most 180 an hour")
    assert worst < SOON
    until(lambda: not missing(customer), SOON.total_seconds(), saying="what came last is there")
    assert calls <= 25 + seconds / 20
    assert refused(customer) == 0
    assert used(customer) <= GENERAL * 0.75


@pytest.mark.quick
@pytest.mark.share
def test_a_burst_is_read_once(customer: Customer, figure: Callable[..., None]) -> None:
    spend(customer, Priority.JOBS, JOBS)
    number = 30_000 if SOAK else 3_000
    before = len(customer.calls(LOG))
    with psycopg.connect(customer.house.sandbox.database_url, autocommit=True) as service:
        since = customer.house.sandbox.now() - timedelta(seconds=15)
        service.execute(_BURST, [customer.service.tenant_id, since, number, number])
    happen(customer)

    def has_all() -> bool:
        with customer.scope():
            return History.objects.filter(history_id__startswith="burst-").count() == number

    until(has_all, saying="the burst is read")
    time.sleep(10)  # its last second is over, even if the two clocks differ
    for _ in range(3):
        happen(customer)
        until(lambda: not missing(customer), saying="what came after it is there")
    calls = len(customer.calls(LOG)) - before
    figure("busy hour", f"a burst of {number} records: calls of the log", calls, f"about {number // 1000}")
    # One page for the rest, one of the last second again, and the readings for the three records after it.
    assert calls <= number // 1000 + 2 + 2 + 3 * 2
    assert refused(customer) == 0


@pytest.mark.quick
def test_where_no_call_is_free_the_pages_say_since_when_the_log_stands_still_and_until_when(
    customer: Customer,
) -> None:
    with customer.browser("owner") as browser:
        spend(customer, Priority.JOBS, GENERAL * 3 // 4 - LISTS)
        happen(customer)
        with customer.scope():
            MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(due_at=database_now(), woken_at=None)
        until(lambda: log_of(customer).error, saying="the log waits for calls")
        door = f"devices/{customer.doors[0]}/"
        for page in ("logs/", door, "members/leavers/never/"):
            text = browser.get(customer.url(page)).text
            assert "Not updated since" in text, page
            assert "Next try at" in text, page
        assert "activity log not updated, next try at" in browser.get(customer.url()).text
    assert refused(customer) == 0
    with customer.scope():
        CallCount.objects.filter(priority=int(Priority.JOBS)).update(counted=0)  # in any time step
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(due_at=database_now(), woken_at=None)
    until(lambda: not missing(customer) and not log_of(customer).error, saying="the log goes on")
    assert not before_us(customer) & missing(customer)
