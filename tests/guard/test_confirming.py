"""A guard unlocks a door with an old proof of identity: confirms it, and the same command is sent once."""

import re
from datetime import timedelta
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from portal.domain.intents.models import PHYSICAL_SECONDS, Intent
from portal.domain.places.models import PassController
from tenants import pending_commands
from tenants.models import AuditEntry, Staff
from tenants.scope import tenant_scope
from tests.support.places import PASSWORD, age_proof

DOOR = "mock_succeeded"


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        for device_id, name in ((DOOR, "倉庫 入口"), ("D2", "Office")):
            PassController.objects.create(device_id=device_id, device_name=name)
    return place


@pytest.fixture
def user(one):
    return one.staff("guard")


@pytest.fixture
def guard(one, user):
    return one.client(user)


def door_page(place, device_id=DOOR):
    return f"/t/{place.tenant.slug}/devices/{device_id}/"


def hidden(html):
    return dict(re.findall(r'<input type="hidden" name="(nonce|next|made)" value="([^"]*)"', html))


def press(client, place, control="unlock", device_id=DOOR):
    """Press a door's button with a proof that is too old. Return the address of the page that asks for a new one."""
    fields = hidden(client.get(door_page(place, device_id)).content.decode())
    age_proof(client.session)
    answer = client.post(
        door_page(place, device_id) + "command/", {"nonce": fields["nonce"], "control": control, "end": "60"}
    )
    assert answer.status_code == 302
    assert "/accounts/" in answer["Location"]
    return answer["Location"]


def confirm(client, address, password=PASSWORD, **more):
    """Open the page and enter the password."""
    fields = hidden(client.get(address).content.decode())
    return client.post(address.partition("?")[0], {**fields, "password": password, **more})


def sent(place):
    return [(each["device_id"], each["control"]) for each in place.sandbox.commands(place.service.tenant_id)]


def intents(place):
    with tenant_scope(place.tenant):
        return list(Intent.objects.all())


@pytest.mark.parametrize(("control", "words", "japanese"), [
    ("unlock", "Unlock 倉庫 入口", "倉庫 入口を解錠"),
    ("cont_unlock", "Hold 倉庫 入口 unlocked", "倉庫 入口を連続解錠"),
])  # fmt: skip
def test_the_page_names_the_command_and_confirming_carries_it_through_once(one, guard, user, control, words, japanese):
    address = press(guard, one, control)
    html = guard.get(address).content.decode()
    assert f"<h1>{words}</h1>" in html
    assert "Nothing was done" not in html
    assert sent(one) == []
    type(user).objects.filter(pk=user.pk).update(language="ja")
    answer = confirm(guard, address)
    assert answer["Location"].startswith(f"{door_page(one)}#outcome-")
    assert sent(one) == [(DOOR, control)]
    again = confirm(guard, address)
    assert pending_commands.TOKEN_PARAMETER in again["Location"]
    assert sent(one) == [(DOOR, control)]
    assert f"<h1>{japanese}</h1>" in guard.get(press(guard, one, control)).content.decode()
    with tenant_scope(one.tenant):
        assert AuditEntry.objects.filter(action="operate_door").count() == 1


def test_the_fifteen_seconds_begin_with_the_click_that_confirms(one, guard):
    address = press(guard, one)
    with mock.patch("time.time", return_value=timezone.now().timestamp() - 100):
        page = hidden(guard.get(address).content.decode())
    guard.post(address.partition("?")[0], {**page, "password": PASSWORD, "elapsed": "95000"})
    (intent,) = intents(one)
    left = intent.deadline - timezone.now()
    assert timedelta(seconds=PHYSICAL_SECONDS - 12) < left < timedelta(seconds=PHYSICAL_SECONDS - 3)
    assert sent(one) == [(DOOR, "unlock")]


def test_a_confirmation_that_waited_too_long_somewhere_sends_nothing(one, guard):
    address = press(guard, one)
    with mock.patch("time.time", return_value=timezone.now().timestamp() - 100):
        page = hidden(guard.get(address).content.decode())
    guard.post(address.partition("?")[0], {**page, "password": PASSWORD, "elapsed": "2000"})
    assert [intent.state for intent in intents(one)] == ["expired"]
    assert sent(one) == []


def test_a_wrong_password_sends_nothing_and_the_command_still_waits(one, guard):
    address = press(guard, one)
    html = confirm(guard, address, "wrong").content.decode()
    assert "<h1>Unlock 倉庫 入口</h1>" in html
    assert sent(one) == []
    confirm(guard, address)
    assert sent(one) == [(DOOR, "unlock")]


def test_confirming_for_something_else_carries_no_command_through(one, guard):
    press(guard, one)
    other = f"/accounts/reauthenticate/?next=/t/{one.tenant.slug}/roles/"
    assert "倉庫 入口" not in guard.get(other).content.decode()
    assert confirm(guard, other)["Location"] == f"/t/{one.tenant.slug}/roles/"
    assert intents(one) == []


def test_of_two_doors_that_wait_only_the_last_one_is_carried_and_the_other_page_says_so(one, guard):
    first = press(guard, one)
    second = press(guard, one, device_id="D2", control="lock")
    answer = confirm(guard, first)
    assert pending_commands.TOKEN_PARAMETER in answer["Location"]
    assert "Nothing was sent by this confirmation." in guard.get(answer["Location"]).content.decode()
    confirm(guard, second)
    assert intents(one) == []


def test_what_waited_for_too_long_is_not_carried_through(one, guard):
    address = press(guard, one)
    session = guard.session
    kept = session[pending_commands.STATE_SESSION_KEY]
    kept["state"]["at"] -= pending_commands.RETAIN_SECONDS
    session[pending_commands.STATE_SESSION_KEY] = kept
    session.save()
    confirm(guard, address)
    assert intents(one) == []


@pytest.mark.parametrize("change", ["person", "session", "seal"])
def test_a_command_is_sealed_to_its_person_and_session(one, guard, change):
    address = press(guard, one)
    kept = dict(guard.session[pending_commands.STATE_SESSION_KEY])
    other = one.client(one.staff("guard")) if change == "person" else guard
    if change == "session":
        other = one.client(one.owner)
    if change == "seal":
        kept["state"]["sealed"] = kept["state"]["sealed"][:-2] + "xx"
    session = other.session
    session[pending_commands.STATE_SESSION_KEY] = kept
    session.save()
    confirm(other, address)
    assert intents(one) == []
    assert sent(one) == []


def test_who_lost_the_right_meanwhile_sends_nothing(one, guard, user):
    address = press(guard, one)
    with tenant_scope(one.tenant):
        Staff.objects.filter(user=user).update(role="auditor")
    assert confirm(guard, address).status_code == 403
    assert intents(one) == []


def test_a_form_that_was_used_already_finds_its_first_command(one, guard):
    fields = hidden(guard.get(door_page(one)).content.decode())
    command = {"nonce": fields["nonce"], "control": "unlock"}
    guard.post(door_page(one) + "command/", command)
    age_proof(guard.session)
    confirm(guard, guard.post(door_page(one) + "command/", command)["Location"])
    assert len(intents(one)) == 1
    assert sent(one) == [(DOOR, "unlock")]


def test_a_hold_that_is_refused_after_the_confirmation_shows_its_values_again(one, guard):
    fields = hidden(guard.get(door_page(one)).content.decode())
    age_proof(guard.session)
    form = {"nonce": fields["nonce"], "control": "cont_unlock", "end": "moment", "moment": "2020-01-01T09:00"}
    answer = confirm(guard, guard.post(door_page(one) + "command/", form)["Location"])
    assert answer["Location"].startswith(f"{door_page(one)}?unsent=")
    html = guard.get(answer["Location"]).content.decode()
    assert "Nothing was sent. Enter a time within the next 24 hours." in html
    assert "2020-01-01T09:00" in html
    assert intents(one) == []


def test_no_posted_field_counts_as_a_confirmation(one, guard):
    with mock.patch("time.time", return_value=timezone.now().timestamp() - 100):
        fields = hidden(guard.get(door_page(one)).content.decode())
    made = hidden(guard.get(press(guard, one)).content.decode())["made"]
    guard.post("/accounts/reauthenticate/", {"password": PASSWORD})
    form = {"nonce": fields["nonce"], "control": "unlock", "made": made, "elapsed": "2000"}
    guard.post(door_page(one) + "command/", form)
    assert [intent.state for intent in intents(one)] == ["expired"]
    assert sent(one) == []


def test_a_broken_form_is_not_carried(one, guard):
    age_proof(guard.session)
    answer = guard.post(door_page(one) + "command/", {"nonce": "forged", "control": "unlock"})
    assert pending_commands.TOKEN_PARAMETER not in parse_qs(urlsplit(answer["Location"]).query)["next"][0]
    confirm(guard, answer["Location"])
    assert intents(one) == []


def test_a_passkey_is_asked_for_first_and_one_touch_unlocks_the_door(one, guard, user, live_server, open_tab):
    site = live_server.url.replace("127.0.0.1", "localhost")
    page = open_tab(site, guard)
    keys = page.context.new_cdp_session(page)
    keys.send("WebAuthn.enable")
    keys.send("WebAuthn.addVirtualAuthenticator", {"options": {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }})  # fmt: skip
    recent(guard)
    page.goto(f"{site}/accounts/2fa/webauthn/add/")
    page.locator("input[type=text]").first.fill("Key")
    page.locator("main button.btn-primary, form button.btn-primary").first.click()
    expect(page).not_to_have_url(re.compile("/webauthn/add/"))
    page.goto(site + door_page(one))
    age_proof(guard.session)
    page.get_by_role("button", name="Unlock", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Unlock 倉庫 入口")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(re.compile(re.escape(site + door_page(one)) + "#outcome-"))
    expect(page.locator("[data-state]").first).to_contain_text("Unlock: 倉庫 入口")
    (intent,) = intents(one)
    assert intent.deadline - intent.created_at < timedelta(seconds=PHYSICAL_SECONDS)
    assert sent(one) == [(DOOR, "unlock")]


def recent(client):
    """Count the sign-in as a confirmation, which is needed to add a passkey."""
    session = client.session
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**each, "reauthenticated": True} for each in records]
    session.save()
