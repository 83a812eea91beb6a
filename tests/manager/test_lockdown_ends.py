"""A lockdown on every page, its release, drills, and people who may not use it."""

import time
from unittest import mock

import pytest

from portal.devices import actions as devices
from portal.devices.actions import DoorCommand
from portal.domain.intents.models import Intent
from portal.domain.places.models import DoorState, PassController
from portal.lockdown.models import Lockdown
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.lockdown import (
    NAMES,
    came,
    furnish,
    lose,
    no_calls_left,
    nonce_of,
    order,
    page,
    press,
    sent,
    settle,
    start,
    step,
    time_passes,
    url,
)
from tests.support.places import fresh_nonce


@pytest.fixture
def one(place):
    return furnish(place)


@pytest.fixture
def user(one):
    return one.staff("facility manager")


@pytest.fixture
def manager(one, user):
    return one.client(user)


class TestOnEveryPage:
    def test_a_banner_says_who_and_how_far_while_it_stands(self, one, manager, user):
        start(manager, one)
        settle(one)
        html = manager.get(f"/t/{one.tenant.slug}/").content.decode()
        assert "Lockdown: 3 of 3 doors locked." in html
        assert f"Started by {user}." in html
        desk = one.client(one.staff("receptionist")).get(f"/t/{one.tenant.slug}/guests/").content.decode()
        assert "Lockdown." in desk
        assert "Show outcome" not in desk
        press(manager, one, "release")
        assert "Started by" not in manager.get(f"/t/{one.tenant.slug}/").content.decode()

    def test_the_audit_log_has_every_act(self, one, manager):
        start(manager, one)
        settle(one)
        lose(one, "倉庫")
        press(manager, one, "again")
        press(manager, one, "release")
        with tenant_scope(one.tenant):
            acts = AuditEntry.objects.filter(action__startswith="lockdown.").order_by("pk")
            assert [str(each.summary) for each in acts] == [
                "Lockdown started: 3 doors", "Lockdown sent again: 1 door", "Lockdown released: 3 doors",
            ]  # fmt: skip
            assert sorted(acts[0].after["doors"]) == sorted(NAMES)


class TestReleasing:
    def test_it_ends_the_order_and_sends_nothing(self, one, manager, user):
        with tenant_scope(one.tenant):
            PassController.objects.filter(device_name="正面").update(state=DoorState.HELD)
        start(manager, one)
        settle(one)
        lose(one, "倉庫")
        assert "not restored: 正面" in page(manager, one)
        press(manager, one, "release")
        time_passes(one, minutes=30)
        step(one)
        assert len(sent(one)) == 3
        html = page(manager, one)
        assert f"by {user}" in html
        assert "Not retried: this has ended." in html

    def test_what_has_not_left_is_withdrawn(self, one, manager):
        start(manager, one)
        press(manager, one, "release")
        settle(one)
        assert sent(one) == []

    def test_what_ended_can_not_be_sent_again(self, one, manager):
        start(manager, one)
        nonce = nonce_of(manager, url(one, f"{order(one).pk}/"))
        press(manager, one, "release")
        answer = manager.post(url(one, f"{order(one).pk}/again/"), {"nonce": nonce}, follow=True)
        assert "already ended or changed" in answer.content.decode()

    def test_what_came_of_it_stays_as_it_was_then(self, one, manager):
        start(manager, one)
        settle(one)
        press(manager, one, "release")
        with tenant_scope(one.tenant):
            door = PassController.objects.get(device_name="倉庫")
            devices.send_command(door=door, command=DoorCommand.HOLD, by=one.asker, nonce=fresh_nonce())
        settle(one)
        assert came(one) == ["done"] * 3


class TestRehearsing:
    def test_it_sends_nothing_and_says_door_by_door_what_would_be(self, one, manager):
        with tenant_scope(one.tenant):
            PassController.objects.filter(device_name="倉庫").update(state=DoorState.OFFLINE)
        no_calls_left(one, left=2)
        html = start(manager, one, act="rehearse").content.decode()
        settle(one)
        step(one)
        assert sent(one) == []
        with tenant_scope(one.tenant):
            assert not Intent.objects.exists()
            entry = AuditEntry.objects.get(action="lockdown.rehearsed")
            assert str(entry.summary) == "Lockdown rehearsed, nothing sent: 3 doors"
        assert "Rehearsal: 3 doors, nothing sent" in html
        assert "Offline, probably unreachable" in html
        assert "Delayed by the API call limit" in html
        assert "Release</button>" not in html

    def test_it_leaves_a_lockdown_that_stands_alone_and_shows_no_banner(self, one, manager):
        start(manager, one, act="rehearse")
        assert "Started by" not in manager.get(f"/t/{one.tenant.slug}/").content.decode()
        start(manager, one)
        start(manager, one, act="rehearse")
        with tenant_scope(one.tenant):
            assert Lockdown.objects.filter(state="active").count() == 1


def test_a_lockdown_of_another_tenant_is_not_there(one, manager, make):
    start(manager, one)
    other = make().client()
    for rest in ("", "again/", "release/"):
        address = url(one, f"{order(one).pk}/{rest}")
        assert other.get(address).status_code == 404
        assert other.post(address).status_code == 404


def test_a_click_that_waited_too_long_sends_nothing(one, manager):
    with mock.patch("time.time", return_value=time.time() - 60):
        nonce = nonce_of(manager, url(one, "new/?scope=all"))
    manager.post(url(one, "start/"), {"nonce": nonce, "scope": "all", "elapsed": "2000"})
    settle(one)
    assert sent(one) == []
    assert came(one) == ["missed"] * 3
