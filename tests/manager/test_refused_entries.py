"""What was typed in a form that is refused on another page appears in the form there, with the reason."""

import re
import uuid

import pytest
from django.urls import reverse

from portal.base.timers.clock import database_now
from portal.domain.alerts.models import Alert
from portal.domain.cameras.models import Camera
from portal.domain.intents.recording import Requester
from portal.domain.places.models import PassController
from portal.domain.safety.models import WaitingChange
from portal.rollcall import actions as roll_calls
from tenants.scope import tenant_scope
from tests.support import evidence
from tests.support.forms import forms_of
from tests.support.log import loaded
from tests.support.members import said


@pytest.fixture
def owner(place):
    loaded(place)
    return place.client()


def form_with(client, page, field):
    """Return the form of a page that has this field."""
    text = client.get(page).content.decode()
    return next(each for each in forms_of(text, page) if field in each.data())


def sent(client, page, field, address="", **typed):
    """Send a form of a page with what is typed. Return the page it leads to, and what the form there would send."""
    form = form_with(client, page, field)
    answer = client.post(address or form.address, form.data(**typed), follow=True)
    again = [each for each in forms_of(answer.content.decode(), page) if field in each.data()]
    return said(answer), again[0].data() if again else {}


def test_a_person_of_a_roll_call_whose_place_is_too_long(place, owner):
    slug = place.tenant.slug
    with tenant_scope(place.tenant):
        call = roll_calls.start(name="Drill", nonce=uuid.uuid4(), by=Requester(place.tenant, place.owner))
    page = reverse("rollcall:page", args=[slug, call.pk])
    words, again = sent(owner, page, "place", name="山田 太郎", place="3F " * 50)
    assert "The person was not added. Place last seen: Ensure this value has at most 100 characters" in words
    assert (again["name"], again["place"]) == (["山田 太郎"], ["3F " * 50])
    with tenant_scope(place.tenant):
        roll_calls.end(call=call, by=Requester(place.tenant, place.owner))
    answer = owner.post(reverse("rollcall:add", args=[slug, call.pk]), {"name": "山田 太郎"}, follow=True)
    assert "The person was not added: the roll call has ended. Start a new one." in said(answer)
    assert "山田 太郎" in said(answer), "to be copied"


def test_what_was_done_about_an_alert_that_another_closed(place, owner):
    now = database_now()
    with tenant_scope(place.tenant):
        alert = Alert.objects.create(kind="forced", subject="door:x", severity=3, weight=3, began_at=now, last_at=now)
    page = reverse("alerts:alert", args=[place.tenant.slug, alert.pk])
    close = reverse("alerts:close", args=[place.tenant.slug, alert.pk])
    form = form_with(owner, page, "text")
    place.client(place.staff("guard")).post(close, {"text": "Door shut"})
    answer = owner.post(close, form.data(text="Called the guard"), follow=True)
    assert "Already closed by" in said(answer)
    assert "Called the guard" in said(answer)


def test_a_moment_of_a_camera_that_lies_ahead(place, owner):
    with tenant_scope(place.tenant):
        Camera.objects.create(camera_id="C", name="Lobby")
    page = reverse("cameras:camera", args=[place.tenant.slug, "C"])
    words, again = sent(owner, page, "seconds", at="2099-01-02T03:04:05", seconds="15")
    assert "Not sent yet. Your entries are filled in again" in words
    assert again["at"] == ["2099-01-02T03:04:05"]


def test_the_name_of_a_search_that_is_taken(place, owner):
    page = reverse("history:index", args=[place.tenant.slug]) + "?only=refused"
    sent(owner, f"{page}&period=30d", "name", name="Last week")
    words, again = sent(owner, page, "name", name="Last week")
    assert "Search not saved: this name is used already." in words
    assert again["name"] == ["Last week"]


def test_the_end_of_a_door_that_is_held_unlocked(place, owner):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="Gate")
    page = reverse("devices:door", args=[place.tenant.slug, "D1"])
    typed = {"end": "moment", "moment": "2099-01-02T03:04", "control": "cont_unlock"}
    words, again = sent(owner, page, "moment", **typed)
    assert "Nothing was sent. Enter a time within the next 24 hours." in words
    assert (again["end"], again["moment"]) == (["moment"], ["2099-01-02T03:04"])


def test_an_incident_that_another_closed(place, owner):
    evidence.opened(place, owner)
    form = form_with(owner, evidence.url(place, "edit", 1), "title")
    closed = form_with(owner, evidence.url(place, "close", 1), "keep_until")
    assert owner.post(closed.address, closed.data()).status_code == 302
    answer = owner.post(form.address, form.data(title="Break-in at the gate"), follow=True)
    assert "Nothing was changed. This incident is closed." in said(answer)
    assert "Break-in at the gate" in said(answer)


def test_a_setting_for_which_a_change_waits(place, owner):
    page = reverse("guests:settings", args=[place.tenant.slug])
    first, second = (place.client(place.staff("facility manager")) for _ in range(2))
    assert (
        "Another person with your permission, or an owner, must confirm"
        in sent(first, page, "keep_days", keep_days="200")[0]
    )
    words, again = sent(second, page, "keep_days", keep_days="300")
    assert "Nothing was changed. Another change of this setting is waiting." in words
    assert again["keep_days"] == ["300"]
    with tenant_scope(place.tenant):
        assert WaitingChange.objects.count() == 1


def test_a_refused_form_sent_twice_is_filled_in_both_times(place, owner):
    page = reverse("history:index", args=[place.tenant.slug]) + "?only=refused"
    sent(owner, f"{page}&period=30d", "name", name="Last week")
    form = form_with(owner, page, "name")
    for _ in range(2):
        answer = owner.post(form.address, form.data(name="Last week"))
        assert re.search(r'value="Last week"', owner.get(answer["Location"]).content.decode())
