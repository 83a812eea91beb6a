"""The calls of an hour: who may use them, and how the service's headers may change the count."""

from datetime import timedelta

import pytest

from accessapi.operations import CallClass
from portal.domain.budget import ledger
from portal.domain.budget.models import CallCount
from portal.domain.budget.priorities import Priority
from portal.domain.budget.quota import quota_of
from tenants.scope import across_tenants, tenant_scope
from tests.support.call_budgets import spend
from tests.support.rounds import round_of

LIMITS = "[limits]\ngeneral = 40\ndevice = 20\nwindow_seconds = 60\n"


@pytest.fixture
def small(make):
    place = make(overrides=LIMITS)
    with tenant_scope(place.tenant):
        yield place


def operation(place, name="list_members"):
    return place.tenant.environment.catalogue.find(name)


def take_all(place, priority, name="list_members"):
    taken = 0
    try:
        while True:
            ledger.count_call(place.connection, operation(place, name), priority)
            taken += 1
    except ledger.BudgetExhausted as exhausted:
        return taken, exhausted


def test_sync_takes_a_quarter_jobs_leave_the_rest_to_people_and_people_leave_some_for_doors(small):
    assert take_all(small, Priority.SYNC)[0] == 10
    assert take_all(small, Priority.JOBS)[0] == 20
    assert take_all(small, Priority.PEOPLE)[0] == 6
    assert take_all(small, Priority.DOORS)[0] == 4
    assert quota_of(small.connection).general.remaining == 0


def test_the_log_and_what_somebody_waits_for_take_what_is_free_whatever_sync_has_used(small):
    assert take_all(small, Priority.SYNC)[0] == 10
    assert take_all(small, Priority.AWAITED)[0] == 20
    assert take_all(small, Priority.JOBS)[0] == 0
    assert take_all(small, Priority.PEOPLE)[0] == 6
    assert take_all(small, Priority.DOORS)[0] == 4


def test_what_somebody_looks_at_is_read_until_half_of_the_hour_is_used_by_whomever(small):
    assert take_all(small, Priority.SYNC)[0] == 10
    assert take_all(small, Priority.WATCHED)[0] == 10
    assert take_all(small, Priority.JOBS)[0] == 10
    assert take_all(small, Priority.WATCHED)[0] == 0


def test_counting_a_call_and_hearing_its_answer_take_three_statements_each(small, django_assert_num_queries):
    line, asked = small.connection, operation(small)
    ledger.count_call(line, asked, Priority.PEOPLE)
    with django_assert_num_queries(3 + 2):  # the two begin and end the transaction
        taken = ledger.count_call(line, asked, Priority.PEOPLE)
    with django_assert_num_queries(3 + 2):
        ledger.correct_count(line, asked, limit=40, remaining=30, reset=50, refused=False, taken=taken)
    with django_assert_num_queries(2 + 2):
        ledger.correct_count(line, asked, limit=None, remaining=None, reset=None, refused=False, taken=taken)


def test_hours_that_nobody_looks_at_any_more_are_forgotten_and_no_call_that_counts(small):
    take_all(small, Priority.JOBS)
    left, reading = quota_of(small.connection).general.remaining, ledger.read_gauge(small.connection, CallClass.GENERAL)
    for hours in (1, 3, 24):
        CallCount.objects.create(gauge=reading.gauge, step=reading.step - hours * 360, priority=3, calls=1, counted=0)
    before = CallCount.objects.count()
    round_of("spent_calls")
    assert CallCount.objects.count() == before - 2
    assert CallCount.objects.order_by("step")[0].step == reading.step - 360
    assert quota_of(small.connection).general.remaining == left == 10


def test_before_there_is_an_environment_nothing_is_forgotten(db):
    with across_tenants("the round looks at all tenants"):
        assert not ledger.expired_steps()[0].exists()


def test_the_device_class_is_counted_apart(small):
    take_all(small, Priority.DOORS)
    assert take_all(small, Priority.PEOPLE, "pass_controller_status")[0] == 18


def test_an_exhausted_budget_says_when_a_call_comes_free(small):
    _, exhausted = take_all(small, Priority.DOORS)
    now = ledger.read_gauge(small.connection, CallClass.GENERAL).now
    assert now + timedelta(seconds=60) < exhausted.retry_at <= now + timedelta(seconds=60 + 15 + 10)


def observe(place, **said):
    given = {"limit": None, "remaining": None, "reset": None, "refused": False, **said}
    ledger.correct_count(place.connection, operation(place), **given)


def test_the_newest_word_of_the_service_about_its_count_is_believed(small):
    take_all(small, Priority.PEOPLE)
    observe(small, limit=40, remaining=2)
    assert quota_of(small.connection).general.remaining == 2
    observe(small, limit=40, remaining=4)
    assert quota_of(small.connection).general.remaining == 4


def test_a_service_that_does_not_count_lifts_nothing(small):
    take_all(small, Priority.PEOPLE)
    observe(small, limit=10_000, remaining=10_000)
    observe(small, limit=10_000, remaining=9_999)
    assert quota_of(small.connection).general.remaining == 4


@pytest.mark.parametrize("remaining", [None, -1, 10**12])
def test_absurd_headers_change_nothing(small, remaining):
    observe(small, limit=-7, remaining=remaining, reset=-1)
    assert quota_of(small.connection).general.remaining == 40


def test_after_429_nobody_calls_until_the_reset_and_a_lying_reset_lasts_a_window_at_most(small):
    observe(small, refused=True, reset=10**9)
    _, exhausted = take_all(small, Priority.DOORS)
    now = ledger.read_gauge(small.connection, CallClass.GENERAL).now
    assert exhausted.retry_at <= now + timedelta(seconds=60)


def test_a_new_token_has_an_hour_of_its_own(small):
    take_all(small, Priority.DOORS)
    small.connection.token_generation += 1
    small.connection.save()
    assert quota_of(small.connection).general.remaining == 40


def test_a_new_token_keeps_the_limit_that_was_seen(small):
    observe(small, limit=8, remaining=0, reset=50)
    small.connection.token_generation += 1
    small.connection.save()
    assert take_all(small, Priority.DOORS)[0] == 8


def test_many_calls_wait_for_earlier_ones_to_stop_counting_and_more_than_a_window_has_for_each_other(small):
    def wait(calls):
        return quota_of(small.connection).general.reading.seconds_until_room(calls, Priority.JOBS)

    assert [wait(calls) for calls in (0, 1, 30)] == [0, 0, 0]  # 10 of 40 are reserved for doors and people
    assert (wait(31), wait(60), wait(61)) == (60, 60, 120)
    spend(small.connection, Priority.PEOPLE, 24, over=40)
    assert (wait(0), wait(6)) == (0, 0)
    soonest, last = wait(7), wait(30)
    assert 40 < soonest <= 60
    assert 70 <= last <= 90
    observe(small, limit=40, remaining=0, reset=30)
    assert 25 < wait(1) <= 30
