"""A receptionist reads how long a list of expected guests takes: at the pace of the last list, and within the hour."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import Intent
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.receptionist.test_expected import Desk, csv_of, some
from tests.support.call_budgets import an_hour_of, spend


@pytest.fixture
def desk(place):
    return Desk(place)


def test_a_list_is_estimated_at_the_pace_of_the_last_one_without_its_pauses(desk, place):
    first, page = desk.checked(csv_of(*some(25)))
    assert "25 API calls; less than a minute" in page
    desk.start(first)
    desk.work(first)
    began = timezone.now()
    with tenant_scope(place.tenant):
        for number, row in enumerate(desk.rows(first)):
            pause = timedelta(hours=1) if number > 10 else timedelta()
            sent_at = began + timedelta(seconds=4 * number) + pause
            Intent.objects.filter(pk=row.intent_id).update(sent_at=sent_at)
    _second, page = desk.checked(csv_of(*some(30, begin=100)))
    assert "30 API calls; about 2 minutes" in page


def test_a_list_that_needs_more_calls_than_are_left_says_when_they_return(desk, place):
    with tenant_scope(place.tenant):
        connection = Connection.objects.select_related("tenant__environment").get()
        an_hour_of(100, place.sandbox, connection)
        spend(connection, Priority.PEOPLE, 70)
    _list, page = desk.checked(csv_of(*some(20)))
    assert "20 API calls; about 60 minutes" in page or "20 API calls; about 61 minutes" in page
