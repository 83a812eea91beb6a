"""While the log waits for API calls, each page and report that uses it says since when, why, and until when."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.base.ui.times import local
from portal.domain.events import MirrorKind
from portal.domain.places.models import Key, KeyBox, PassController
from portal.domain.sync import failure_reasons, schedule
from portal.domain.sync.models import MirrorState
from tenants.scope import tenant_scope
from tests.manager.test_explain_past import PastDesk
from tests.support import evidence
from tests.support.forms import forms_of
from tests.support.log import happened, loaded, record
from tests.support.members import said
from tests.support.reports import ReportsDesk

NOW = timezone.now().replace(microsecond=0)
SINCE, UNTIL = NOW - timedelta(minutes=7), NOW + timedelta(minutes=9)
REASON = "No API calls are free for this at the moment."


def shown(at):
    """Return a moment as the pages show it: the time, and the date if it is another day."""
    there = local(at)
    return f"{there:%H:%M}" if there.date() == local(timezone.now()).date() else f"{there:%Y-%m-%d %H:%M}"


@pytest.fixture
def paused(place):
    """Let the log wait for calls, which are expected in nine minutes."""
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="Lab")
        box = KeyBox.objects.create(key_device_id="K1", key_device_name="Box")
        Key.objects.create(key_box=box, unit_no="1", unit_name="Store")
    happened(place, record(NOW - timedelta(hours=1), history_id="h-one", device_id="D1"))
    pause(place)
    return place


def pause(place):
    loaded(place)
    with tenant_scope(place.tenant):
        state = MirrorState.objects.get(kind=MirrorKind.HISTORIES)
        state.as_of, state.error, state.error_at, state.due_at = SINCE, failure_reasons.NO_CALLS, NOW, NOW
        state.memory[schedule.RESUMES_AT] = UNTIL.isoformat()
        state.save()


@pytest.mark.parametrize(
    ("page", "given"),
    [
        ("history:index", []),
        ("alerts:index", []),
        ("history:record", ["h-one"]),
        ("devices:door", ["D1"]),
        ("members:leavers_of", ["never"]),
        ("keys:key", ["K1", "1"]),
    ],
)
def test_a_page_says_since_when_why_and_until_when(paused, page, given):
    text = said(paused.client(paused.staff("owner")).get(reverse(page, args=[paused.tenant.slug, *given])))
    assert f"Not updated since {shown(SINCE)}. {REASON} Next try at {shown(UNTIL)}." in text


@pytest.mark.parametrize("page", ["guests:board", "guests:building"])
def test_the_desk_says_so_without_a_word_of_calls(paused, page):
    text = said(paused.client(paused.staff("receptionist")).get(reverse(page, args=[paused.tenant.slug])))
    assert f"Not updated since {shown(SINCE)}. Next try at {shown(UNTIL)}." in text
    assert REASON not in text


def test_the_overview_says_until_when(paused):
    text = said(paused.client(paused.staff("owner")).get(reverse("home:index", args=[paused.tenant.slug])))
    assert f"activity log not updated, next try at {local(UNTIL):%H:%M}" in text


WORDS = f"Not updated since {shown(SINCE)}. {REASON} Next try at {shown(UNTIL)}."


def test_the_page_of_records_to_add_to_an_incident_says_so(paused):
    client = paused.client()
    evidence.opened(paused, client)
    pause(paused)
    client.post(evidence.url(paused, "new"), {"title": "Now", "began_at": evidence.when(timezone.now())})
    assert WORDS in said(client.get(evidence.url(paused, "records", 2)))


def test_a_roll_call_says_so(paused):
    client, address = paused.client(), reverse("rollcall:index", args=[paused.tenant.slug])
    form = next(
        each for each in forms_of(client.get(address).content.decode(), address) if each.address.endswith("/start/")
    )
    assert WORDS in said(client.post(form.address, form.data(name="Drill"), follow=True))


def test_the_answer_about_a_moment_of_the_past_says_so(make):
    desk = PastDesk(make(members=5))
    pause(desk.place)
    assert WORDS in said(desk.past())


def test_a_report_says_so(place):
    desk = ReportsDesk(place)
    pause(place)
    today = local(timezone.now()).date()
    page = desk.page(desk.ask("entered", first=today, last=today))
    assert f"Not updated since {shown(SINCE)}. {REASON} Next try at {shown(UNTIL)}." in page


@pytest.mark.parametrize(("days", "may_come"), [(2, True), (5, False)])
def test_a_report_of_days_that_are_read_again_says_what_may_still_come(place, days, may_come):
    desk = ReportsDesk(place)
    loaded(place)
    day = local(timezone.now()).date() - timedelta(days=days)
    page = desk.page(desk.ask("entered", first=day, last=day))
    assert ("Devices that were offline may still send records of this period." in page) is may_come


def test_a_report_says_what_may_still_come(place):
    desk = ReportsDesk(place)
    loaded(place)
    today = local(timezone.now()).date()
    before = desk.page(desk.ask("entered", first=today, last=today))
    assert "Devices that were offline may still send records of this period." in before
    assert "not counted yet" not in before
    happened(place, record(NOW, member_id="m-1")._replace(notified=True))
    after = desk.page(desk.ask("entered", first=today, last=today))
    assert "1 record not counted yet: received as a notification only." in after
    assert "People unknown" in after
