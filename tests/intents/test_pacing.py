"""How often an accepted request is polled: at the service's pace, with few of the hour's calls."""

from datetime import timedelta

import pytest

from accessapi.resources import RequestRecord
from portal.base.timers.clock import database_now
from portal.domain.intents.models import Intent, State
from portal.domain.intents.transitions import first_poll_delay, next_poll_delay
from tenants.scope import tenant_scope
from tests.support.places import fresh_nonce


@pytest.fixture
def bulk(place):
    with tenant_scope(place.tenant):

        def make(members: int, **fields) -> Intent:
            given = {
                "operation": "bulk_create_members", "delivery": "create", "permission": "imports_run", "priority": 2,
                "queue": "bulk", "title": "Import", "by": place.owner, "nonce": fresh_nonce().value,
                "body": {"members": [{}] * members}, "accepted_at": database_now(), "polls": 2, **fields,
            }  # fmt: skip
            return Intent.objects.create(tenant=place.tenant, **given)

        yield make


def test_the_first_request_of_a_tenant_is_looked_at_after_a_guess(bulk):
    assert first_poll_delay(bulk(1000)) == 3.0
    assert first_poll_delay(bulk(1)) < 1.1


def test_the_next_one_is_looked_at_when_the_pace_of_the_last_says_that_it_is_done(bulk):
    began = database_now() - timedelta(minutes=1)
    bulk(500, state=State.SUCCEEDED, accepted_at=began, finished_at=began + timedelta(seconds=10),
         result={"completed_member_count": 500})  # fmt: skip
    assert first_poll_delay(bulk(1000)) == pytest.approx(20.0)
    assert first_poll_delay(bulk(10)) == 1.0


def test_requests_that_are_done_at_the_first_look_are_looked_at_sooner_and_not_ever_later(bulk):
    waits, began = [30.0], database_now() - timedelta(hours=1)
    for number in range(6):
        at = began + timedelta(minutes=number)
        noticed = at + timedelta(seconds=waits[-1] + 2)  # a worker polls two seconds after the due time
        bulk(1000, state=State.SUCCEEDED, accepted_at=at, finished_at=noticed, polls=1,
             result={"completed_member_count": 1000})  # fmt: skip
        waits.append(first_poll_delay(bulk(1000)))
    assert waits == sorted(waits, reverse=True)
    assert waits[-1] < 3


def test_a_request_of_a_few_members_says_nothing_about_one_of_hundreds(bulk):
    began = database_now() - timedelta(minutes=9)
    for minute, members, seconds in ((1, 400, 4), (2, 1, 2), (3, 2, 3)):
        at = began + timedelta(minutes=minute)
        bulk(members, state=State.SUCCEEDED, accepted_at=at, finished_at=at + timedelta(seconds=seconds),
             result={"completed_member_count": members})  # fmt: skip
    assert first_poll_delay(bulk(288)) == pytest.approx(2.9, abs=0.1)
    assert first_poll_delay(bulk(5)) == pytest.approx(7.5)


def test_what_only_one_of_two_rows_was_seen_of_is_first_looked_at_after_a_guess(bulk):
    began = database_now() - timedelta(minutes=1)
    bulk(2, state=State.SUCCEEDED, accepted_at=began, finished_at=began + timedelta(seconds=2),
         result={"completed_member_count": 2})  # fmt: skip
    assert first_poll_delay(bulk(288)) < 2


def test_while_it_moves_the_next_look_is_when_the_rest_should_be_done(bulk):
    intent = bulk(1000, accepted_at=database_now() - timedelta(seconds=4))
    half = RequestRecord.model_validate(
        {"request_id": "R", "result": {"member_count": 1000, "completed_member_count": 500}}
    )
    assert next_poll_delay(intent, half) == pytest.approx(4.4, abs=0.3)


def test_a_request_that_does_not_move_is_looked_at_less_and_less(bulk):
    intent = bulk(1000, polls=3)
    later = bulk(1000, polls=20)
    assert next_poll_delay(intent, None) < next_poll_delay(later, None) == 30.0
