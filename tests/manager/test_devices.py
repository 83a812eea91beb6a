"""A facility manager and the doors: what they see, what they unlock, and the messages they get."""

import re
import time
from datetime import timedelta
from unittest import mock

import pytest
from django.utils import timezone

from portal.base.timers.clock import database_now
from portal.devices import status_reading
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent
from portal.domain.places.models import PassController
from tenants.scope import tenant_scope
from tests.support.doors import door as seen
from tests.support.doors import shows
from tests.support.places import age_proof
from tests.support.rounds import tenants_with


@pytest.fixture
def place(make):
    place = make()
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="mock_succeeded", device_name="正面エントランス")
    return place


def page_of(place, door="mock_succeeded"):
    return f"/t/{place.tenant.slug}/devices/{door}/"


def form_of(client, place):
    """Return the hidden fields of the door's command form, as a browser would send them."""
    html = client.get(page_of(place)).content.decode()
    return dict(re.findall(r'<input type="hidden" name="(nonce|elapsed)" value="([^"]*)"', html))


def unlock(client, place, fields=None, **more):
    sent = {**(form_of(client, place) if fields is None else fields), "control": "unlock", **more}
    return client.post(page_of(place) + "command/", sent, follow=True)


def test_doors_are_listed_with_an_unknown_state_until_somebody_read_them(place, manager):
    html = manager.get(f"/t/{place.tenant.slug}/devices/").content.decode()
    assert "正面エントランス" in html
    assert "Unknown" in html


def test_a_door_is_unlocked_and_its_page_tells_what_came_of_it(place, manager):
    html = unlock(manager, place).content.decode()
    assert "Unlock: 正面エントランス" in html
    assert 'data-state="accepted"' in html or 'data-state="done"' in html
    assert [c["control"] for c in place.sandbox.commands(place.service.tenant_id)] == ["unlock"]


def test_a_click_asks_the_database_little(place, manager, django_assert_max_num_queries):
    unlock(manager, place)
    fields = {**form_of(manager, place), "control": "unlock"}
    with django_assert_max_num_queries(34):  # eight of them begin and end transactions
        manager.post(page_of(place) + "command/", fields)


def test_the_back_button_and_a_second_click_find_the_same_command(place, manager):
    fields = form_of(manager, place)
    for _ in range(5):
        unlock(manager, place, fields)
    assert len(place.sandbox.commands(place.service.tenant_id)) == 1


def test_a_click_that_waited_too_long_does_not_leave(place, manager):
    with mock.patch("time.time", return_value=time.time() - 60):
        fields = form_of(manager, place)
    html = unlock(manager, place, {**fields, "elapsed": "2000"}).content.decode()
    assert 'data-state="expired"' in html
    assert not place.sandbox.commands(place.service.tenant_id)


@pytest.mark.parametrize("change", [{"nonce": ""}, {"nonce": "forged"}, {"control": "explode"}, {"control": ""}])
def test_a_form_that_is_not_ours_sends_nothing_and_says_so(place, manager, change):
    html = unlock(manager, place, **change).content.decode()
    assert "Nothing was sent" in html or "othing was sent" in html
    assert not place.sandbox.commands(place.service.tenant_id)


def test_a_form_of_another_tenant_sends_nothing(place, make, manager):
    other = make()
    with tenant_scope(other.tenant):
        PassController.objects.create(device_id="mock_succeeded", device_name="Other")
    elsewhere = form_of(other.client(), other)
    unlock(manager, place, elsewhere)
    assert not place.sandbox.commands(place.service.tenant_id)
    assert not other.sandbox.commands(other.service.tenant_id)


def test_before_a_door_is_operated_the_person_is_asked_who_they_are(place, manager):
    fields = form_of(manager, place)
    age_proof(manager.session)
    answer = manager.post(page_of(place) + "command/", {**fields, "control": "unlock"})
    assert answer.status_code == 302
    assert "/accounts/reauthenticate/" in answer["Location"]
    assert not place.sandbox.commands(place.service.tenant_id)


def test_without_a_licence_the_page_says_what_is_needed_and_offers_no_button(make):
    place = make(contracts=("door",))
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="mock_succeeded", device_name="Door")
        place.connection.licence_key = None
        place.connection.save()
    html = place.client().get(page_of(place)).content.decode()
    assert 'name="control"' not in html
    assert place.service.tenant_id in html


def test_the_status_is_read_from_the_service_and_kept_with_its_time(place, manager):
    with tenant_scope(place.tenant):
        device = place.connection and PassController.objects.get()
    first = place.sandbox.doors(place.service.token)[0]["device_id"]
    with tenant_scope(place.tenant):
        PassController.objects.filter(pk=device.pk).update(device_id=first)
    html = manager.get(page_of(place, first) + "status/").content.decode()
    assert "Connected" in html
    with tenant_scope(place.tenant):
        assert PassController.objects.get().status_as_of is not None
        assert status_reading.read_stale() == 0


def test_an_auditor_sees_the_door_and_cannot_operate_it(place):
    auditor = place.client(place.staff("auditor"))
    assert 'name="control"' not in auditor.get(page_of(place)).content.decode()
    answer = auditor.post(page_of(place) + "command/", {"control": "unlock"})
    assert answer.status_code == 403
    assert "Unlock and lock doors" in answer.content.decode()


def test_a_stranger_finds_nothing(place, make):
    assert make().client().get(page_of(place)).status_code == 404


def test_a_door_that_is_not_there_is_not_found(place, manager):
    assert manager.get(page_of(place, "nowhere")).status_code == 404
    assert manager.post(page_of(place, "no~2Fwhere") + "command/").status_code == 404


def test_an_uncertain_command_says_that_the_door_may_have_opened(place, manager):
    unlock(manager, place)
    with tenant_scope(place.tenant):
        read = {"read": "2026-11-28T23:42:44+00:00", "lock": "unlock", "door": "open"}
        Intent.objects.update(state="uncertain", reason="lost", due_at=None, result={"evidence": read})
    html = manager.get(page_of(place)).content.decode()
    assert "The door may have opened" in html
    assert "Checked" in html
    assert "2026-11-29 08:42:44" in html
    assert read["read"] not in html.replace("datetime=", "")
    assert "will not be sent again" in html


def test_a_door_that_is_held_unlocked_is_on_top_of_every_page_until_it_is_locked(place, manager):
    def command(control):
        unlock(manager, place, control=control, end="60")
        with tenant_scope(place.tenant):
            newest = Intent.objects.order_by("-pk").first()
            Intent.objects.filter(pk=newest.pk, state="accepted").update(due_at=database_now())
            tracking.poll(newest)

    command("cont_unlock")
    assert "正面エントランス is held unlocked until" in manager.get(f"/t/{place.tenant.slug}/").content.decode()
    command("lock")
    assert "is held unlocked" not in manager.get(f"/t/{place.tenant.slug}/").content.decode()


def test_the_palette_finds_a_door(place, manager):
    html = manager.get(f"/t/{place.tenant.slug}/find/?q=エントラ").content.decode()
    assert page_of(place) in html


def test_a_door_seen_unlocked_is_looked_at_again_after_a_minute(place):
    shows(place, "mock_succeeded", lock="unlock", ago=120)
    with tenant_scope(place.tenant):
        PassController.objects.update(look_at=timezone.now())
    assert tenants_with(status_reading.due_doors) == [place.tenant.pk]
    shows(place, "mock_succeeded", lock="unlock")
    door = seen(place, "mock_succeeded")
    assert timedelta(seconds=30) < door.look_at - door.known_at <= timedelta(seconds=60)
    shows(place, "mock_succeeded")
    door = seen(place, "mock_succeeded")
    assert door.look_at - door.known_at == timedelta(minutes=15)
    assert tenants_with(status_reading.due_doors) == []
