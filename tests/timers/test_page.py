"""The platform's page shows the state of the clock and its timers, and no warning while all is well."""

from datetime import timedelta

import pytest

from portal.base.timers import beat
from portal.base.timers.clock import database_now
from portal.base.timers.models import Lease
from portal.domain.alerts.models import DetectionState
from tenants.models import User
from tenants.scope import tenant_scope
from tests.support.members import said
from tests.support.places import PASSWORD, Place, signed_in

QUIET, LATE, STOPPED = "Clock: last tick", "Some scheduled work is late", "The clock has been stopped since"


@pytest.fixture
def page(place: Place):
    """Return the platform's page as support staff read it."""
    person = User.objects.create_user("support@example.test", PASSWORD, name="Support", platform_role="support")
    browser = signed_in(person)
    return lambda: said(browser.get("/platform/"))


def ticked(seconds_ago: float) -> None:
    Lease.objects.update_or_create(pk=1, defaults={"ticked_at": database_now() - timedelta(seconds=seconds_ago)})


def waits(place: Place, minutes: int) -> None:
    with tenant_scope(place.tenant):
        DetectionState.objects.all().delete()
        DetectionState.objects.create(due_at=database_now() - timedelta(minutes=minutes))


def test_while_all_is_well_there_is_one_quiet_line(page, place: Place) -> None:
    ticked(2)
    waits(place, 1)
    text = page()
    assert QUIET in text
    assert LATE not in text
    assert STOPPED not in text


def test_a_timer_that_is_late_is_named_with_since_when(page, place: Place) -> None:
    ticked(2)
    waits(place, 3)
    text = page()
    assert LATE in text
    assert "alerts waiting since" in text
    assert QUIET not in text


def test_a_clock_that_has_stopped_is_said_before_all_else(page, place: Place) -> None:
    waits(place, 3)
    assert "The clock has never run." in page()
    ticked(beat.LEASE_SECONDS + 1)
    assert LATE in page(), "another clock may follow yet"
    ticked(60)
    text = page()
    assert STOPPED in text
    assert LATE not in text
