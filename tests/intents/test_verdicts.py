"""What an answer means for each kind of delivery: the whole table."""

import pytest

from accessapi import errors
from accessapi.operations import Delivery
from portal.domain.intents.models import MAX_ATTEMPTS, Reason, State
from portal.domain.intents.transitions import from_error

AMBIGUOUS = [
    errors.TimedOut("no answer"),
    errors.ConnectionLost("reset"),
    errors.ServerFault("the service failed", 503),
    errors.UnreadableAnswer("not JSON", 200),
    errors.UnexpectedStatus("redirect", 302),
]
REFUSED = [errors.error_for_status(status, code="40002", detail="x") for status in (400, 403, 404, 409, 413)]


def verdict(error, delivery, attempts=1, deletes=False):
    return from_error(error, delivery=delivery, attempts=attempts, deletes=deletes)


@pytest.mark.parametrize("error", AMBIGUOUS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("delivery", [Delivery.PHYSICAL, Delivery.CREATE])
def test_what_may_have_happened_is_never_sent_again(error, delivery):
    found = verdict(error, delivery)
    assert found.state == State.UNCERTAIN
    assert found.again_in is None


@pytest.mark.parametrize("error", AMBIGUOUS, ids=lambda e: type(e).__name__)
def test_a_setting_is_repeated_and_in_the_end_left_to_a_person(error):
    assert verdict(error, Delivery.SET).state == State.QUEUED
    assert verdict(error, Delivery.SET, attempts=MAX_ATTEMPTS).state == State.UNCERTAIN


@pytest.mark.parametrize("error", REFUSED, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("delivery", list(Delivery))
def test_a_documented_refusal_ends_it_as_not_applied(error, delivery):
    found = verdict(error, delivery)
    assert (found.state, found.code, found.detail) == (State.FAILED, "40002", "x")


def test_a_deletion_that_is_repeated_and_finds_nothing_is_done():
    gone = errors.error_for_status(404)
    assert verdict(gone, Delivery.SET, attempts=2, deletes=True).state == State.SUCCEEDED
    assert verdict(gone, Delivery.SET, attempts=1, deletes=True).state == State.FAILED


def test_a_full_hour_waits_for_the_reset():
    found = verdict(errors.error_for_status(429, retry_after=120), Delivery.CREATE)
    assert (found.state, found.again_in, found.reason) == (State.QUEUED, 120.0, Reason.BUDGET)


def test_what_surely_was_not_sent_may_be_sent_even_to_a_door():
    assert verdict(errors.NotSent("refused"), Delivery.PHYSICAL).state == State.QUEUED
