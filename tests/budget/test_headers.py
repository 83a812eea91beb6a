"""How the service's rate headers change the count: other limits, resets, missing headers and wrong values."""

import math
import time
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from portal.domain.budget import ledger
from portal.domain.budget.gauges import CountedCall
from portal.domain.budget.models import Gauge
from portal.domain.budget.priorities import Priority
from portal.domain.budget.quota import quota_of
from tenants.scope import tenant_scope
from tests.support.waiting import until

HOUR = "[limits]\ngeneral = 40\ndevice = 20\nwindow_seconds = 3600\n"
PEOPLE, DOORS = Priority.PEOPLE, Priority.DOORS


@dataclass
class Tenant:
    """A tenant and its ledger: `count_call` counts a call, `hear` applies the headers of its answer."""

    place: object
    answered: list[CountedCall] = field(default_factory=list)

    @property
    def connection(self):
        return self.place.connection

    @property
    def operation(self):
        return self.place.tenant.environment.catalogue.find("list_members")

    def take(self, priority=PEOPLE):
        return ledger.count_call(self.connection, self.operation, priority)

    def held_until(self, priority=PEOPLE):
        with pytest.raises(ledger.BudgetExhausted) as held:
            self.take(priority)
        return held.value.retry_at - ledger.read_gauge(self.connection, self.operation.call_class).now

    def hear(self, taken=None, **said):
        given = {"limit": None, "remaining": None, "reset": None, "refused": False, **said}
        ledger.correct_count(self.connection, self.operation, taken=taken, **given)

    def call(self, priority=PEOPLE, **said):
        self.hear(self.take(priority), **said)

    def calls(self, priority=PEOPLE, **said):
        """Make calls, each with this answer, until one is held back. Return how many there were."""
        for number in range(1000):
            try:
                self.call(priority, **said)
            except ledger.BudgetExhausted:
                return number
        return 1000

    @property
    def left(self):
        return quota_of(self.connection).general.remaining


@pytest.fixture
def tenant(make):
    place = make(overrides=HOUR)
    with tenant_scope(place.tenant):
        yield Tenant(place)


def wait_until(tenant, priority=PEOPLE, most=5.0):
    """Retry until a call is let through. Return it, and how many seconds that took."""
    start = time.monotonic()
    while time.monotonic() < start + most:
        try:
            return tenant.take(priority), time.monotonic() - start
        except ledger.BudgetExhausted:
            time.sleep(0.02)
    raise AssertionError("held back for too long")


@dataclass
class Service:
    """A service that allows a number of calls in each window of `seconds`, which begins with its first call.

    It names the reset with every answer, or only while no calls are left.
    """

    limit: int
    seconds: float
    always: bool = True
    used: int = 0
    ends: float = 0.0

    def answer(self):
        now = time.monotonic()
        if now >= self.ends:
            self.used, self.ends = 0, now + self.seconds
        refused = self.used >= self.limit
        self.used += not refused
        reset = math.ceil(self.ends - now) if self.always or self.used >= self.limit else None
        return {"limit": self.limit, "remaining": self.limit - self.used, "reset": reset, "refused": refused}


@pytest.mark.parametrize("refused", [False, True])
def test_none_left_holds_until_the_reset_that_is_named_and_no_longer(tenant, refused):
    tenant.call(limit=40, remaining=0, reset=1, refused=refused)
    assert tenant.held_until(DOORS) <= timedelta(seconds=1)
    taken, waited = wait_until(tenant, DOORS)
    assert 0.8 < waited < 1.5
    tenant.hear(taken, limit=40, remaining=39)
    # The calls that the service had counted besides ours were available again at that reset.
    assert tenant.left >= 38


@pytest.mark.parametrize(("always", "priority"), [(True, PEOPLE), (False, DOORS)])
def test_a_reset_frees_our_own_calls_too_where_the_service_says_so(tenant, always, priority):
    service = Service(limit=20, seconds=1, always=always)
    for _ in range(50):
        taken, _ = wait_until(tenant, priority)
        said = service.answer()
        assert not said["refused"]
        tenant.hear(taken, **said)


def test_one_call_tries_whether_a_limit_has_ended_before_all_go(tenant):
    tenant.call(limit=40, remaining=0, reset=1)
    first, _ = wait_until(tenant)
    assert tenant.held_until(PEOPLE) > timedelta(0)
    tenant.hear(first, limit=40, remaining=30)
    assert tenant.take(PEOPLE)


def test_doors_go_first_when_a_limit_ends(tenant):
    tenant.call(limit=40, remaining=0, reset=1)
    waits = {each: tenant.held_until(each) for each in (DOORS, PEOPLE, Priority.JOBS, Priority.SYNC)}
    assert list(waits) == sorted(waits, key=waits.get)
    assert waits[Priority.SYNC] < timedelta(seconds=4)


def test_a_reset_that_is_named_with_calls_left_gives_back_what_others_used(tenant):
    tenant.call(limit=40, remaining=5, reset=1)
    assert tenant.left == 5
    until(lambda: tenant.left == 39)


def test_a_429_without_a_reset_stops_no_door_and_nobody_for_more_than_a_minute(tenant):
    tenant.call(refused=True)
    assert tenant.held_until(PEOPLE) < timedelta(seconds=62)
    assert tenant.take(DOORS)


def test_none_left_without_a_reset_stops_no_door_and_nobody_for_more_than_a_minute(tenant):
    tenant.call(limit=40, remaining=0)
    assert tenant.held_until(PEOPLE) < timedelta(seconds=62)
    tenant.call(DOORS, limit=40, remaining=37)
    assert tenant.take(PEOPLE)


def test_a_lower_limit_is_a_limit_and_no_calls_of_others(tenant):
    tenant.call(limit=20, remaining=19)
    tenant.call(limit=20, remaining=18)
    assert tenant.left == 18
    # The reserve for doors is a tenth of the service's limit.
    assert tenant.calls(PEOPLE) == 16
    assert tenant.calls(DOORS) == 2


def test_a_lower_limit_is_believed_of_a_service_that_says_no_more_than_that(tenant):
    tenant.call(limit=20)
    assert tenant.left == 19


def test_a_higher_limit_is_used_while_the_service_counts_our_calls(tenant):
    for number in range(1, 51):
        tenant.call(limit=200, remaining=200 - number)
    assert tenant.left == 150
    assert quota_of(tenant.connection).general.limit == 200


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_smallest_limits_leave_a_call_for_people(tenant, limit):
    assert tenant.calls(PEOPLE, limit=limit, remaining=limit) >= 1


@pytest.mark.parametrize(("limit", "people", "jobs"), [(2, 1, 1), (3, 2, 1), (9, 8, 7)])
def test_a_limit_whose_tenth_is_no_whole_call_keeps_one_for_doors_and_one_for_people(tenant, limit, people, jobs):
    assert tenant.calls(Priority.JOBS, limit=limit, remaining=limit) == jobs
    assert tenant.calls(PEOPLE) == people - jobs
    assert tenant.calls(DOORS) == limit - people


@pytest.mark.parametrize("said", [
    {}, {"limit": 10**8, "remaining": 10**8}, {"limit": 5000, "remaining": 4999}, {"limit": 0, "remaining": 10**9},
    {"remaining": 10**6}, {"limit": 10**8},
])  # fmt: skip
def test_missing_and_lying_headers_allow_no_more_than_is_configured(tenant, said):
    assert tenant.calls(PEOPLE, **said) == 36


def test_a_promise_that_was_refused_is_not_believed_again_within_the_window(tenant):
    for number in range(1, 61):
        tenant.call(limit=200, remaining=200 - number)
    tenant.call(limit=200, remaining=139, reset=1, refused=True)
    wait_until(tenant)
    tenant.hear(None, limit=200, remaining=138)
    assert quota_of(tenant.connection).general.limit == 40


def test_an_answer_that_comes_late_does_not_undo_what_was_heard_since(tenant):
    first, second = tenant.take(), tenant.take()
    tenant.hear(second, limit=40, remaining=3)
    tenant.hear(first, limit=40, remaining=39)
    assert tenant.left == 3


def test_a_probe_that_is_lost_holds_nobody_up_for_long(tenant):
    tenant.call(limit=40, remaining=0, reset=1)
    wait_until(tenant, DOORS)
    assert tenant.held_until(DOORS) < timedelta(seconds=3)
    gauge = Gauge.objects.get()
    gauge.tried_at -= timedelta(seconds=16)
    gauge.blocked_until -= timedelta(seconds=16)
    gauge.save()
    assert tenant.take(PEOPLE)


@pytest.mark.parametrize("priority", list(Priority)[:4])
def test_nobody_who_waits_is_away_for_more_than_a_minute(tenant, priority):
    tenant.call(DOORS, limit=40, remaining=0, reset=3000)
    with pytest.raises(ledger.BudgetExhausted) as held:
        tenant.take(priority)
    now = ledger.read_gauge(tenant.connection, tenant.operation.call_class).now
    assert held.value.retry_at - now > timedelta(seconds=2900)
    assert held.value.check_again_at - now <= timedelta(seconds=60)


def test_calls_of_ours_that_overtake_each_other_are_nobody_elses_and_stop_no_door(tenant):
    tenant.calls(limit=None)
    slow, quick = tenant.take(DOORS), tenant.take(DOORS)
    used = quick.counted
    tenant.hear(slow, limit=used, remaining=0)  # the service had counted both before it answered the first
    tenant.hear(quick, limit=used, remaining=0)
    assert Gauge.objects.get(call_class="general").others == 0
    assert tenant.held_until(DOORS) > timedelta(minutes=50)


def test_calls_of_ours_that_overtake_each_other_are_no_count_that_began_anew(tenant):
    first, _second, _third, last = (tenant.take() for _ in range(4))
    tenant.hear(first, limit=40, remaining=36)  # it arrived as the fourth
    tenant.hear(last, limit=40, remaining=39)  # and this one as the first
    assert tenant.left == 36
