"""Who may see and use a lockdown, and what the audit log records of it."""

import re
from datetime import timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.domain.intents.models import Intent, State
from portal.domain.places.models import DoorState, PassController
from portal.lockdown.models import Lockdown, LockdownSetting
from tenants.models import AuditEntry, Connection, Staff
from tenants.scope import tenant_scope
from tests.support.lockdown import (
    came,
    furnish,
    lose,
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
from tests.support.places import PASSWORD, age_proof


@pytest.fixture
def one(place):
    return furnish(place)


@pytest.fixture
def user(one):
    return one.staff("facility manager")


@pytest.fixture
def manager(one, user):
    return one.client(user)


@pytest.fixture
def two_persons(one):
    """Let a lockdown wait for a second person."""
    with tenant_scope(one.tenant):
        LockdownSetting.objects.create(second="both")


def entries(place, act):
    with tenant_scope(place.tenant):
        return list(AuditEntry.objects.filter(action=f"lockdown.{act}"))


class TestAGuard:
    def test_locks_an_area_down_and_ends_it(self, one):
        guard = one.client(one.staff("guard"))
        assert f'href="{url(one, "new/")}?scope=all"' in guard.get(url(one)).content.decode()
        start(guard, one, scope="area", area="A1")
        settle(one)
        assert sent(one) == [(one.doors[0], "lock"), (one.doors[1], "lock")]
        press(guard, one, "release")
        assert order(one).state == "released"

    def test_does_not_see_the_settings(self, one):
        guard = one.client(one.staff("guard"))
        assert "Lockdown settings" not in guard.get(url(one)).content.decode()
        assert guard.get(url(one, "settings/")).status_code == 403


class TestAnAuditor:
    def test_sees_a_lockdown_and_none_of_its_buttons(self, one, manager):
        start(manager, one)
        settle(one)
        lose(one, "倉庫")
        auditor = one.client(one.staff("auditor"))
        html = page(auditor, one)
        assert "2 of 3 doors locked" in html
        assert "Release</button>" not in html
        assert "Send again" not in html
        assert f'href="{url(one, "new/")}' not in auditor.get(url(one)).content.decode()


class TestAPersonWhoLostTheRight:
    def test_while_confirming_their_identity_starts_nothing(self, one, manager, user):
        nonce = nonce_of(manager, url(one, "new/?scope=all"))
        age_proof(manager.session)
        asked = manager.post(url(one, "start/"), {"nonce": nonce, "scope": "all"})
        html = manager.get(asked["Location"]).content.decode()
        hidden = dict(re.findall(r'<input type="hidden" name="(next|made)" value="([^"]*)"', html))
        with tenant_scope(one.tenant):
            Staff.objects.filter(user=user).update(role="auditor")
        answer = manager.post(asked["Location"].partition("?")[0], {**hidden, "password": PASSWORD})
        assert answer.status_code == 403
        with tenant_scope(one.tenant):
            assert not Lockdown.objects.exists()

    def test_and_works_here_no_more_is_confirmed_by_nobody(self, one, manager, user, colleague, two_persons):
        start(manager, one)
        with tenant_scope(one.tenant):
            Staff.objects.filter(user=user).update(is_active=False)
        assert "no longer has permission. Start a new one." in press(colleague, one, "confirm")
        settle(one)
        assert sent(one) == []


class TestOnRecord:
    def test_is_who_confirmed_and_for_whom(self, one, manager, user, colleague, two_persons):
        start(manager, one)
        press(colleague, one, "confirm")
        settle(one)
        (started,) = entries(one, "started")
        assert started.by != user
        assert started.after["started_by"] == str(user)
        confirmed = order(one).confirmed_by
        assert f"Started by {user}. Confirmed by {confirmed}." in manager.get(f"/t/{one.tenant.slug}/").content.decode()

    def test_is_a_request_that_was_taken_back(self, one, manager, user, two_persons):
        start(manager, one)
        press(manager, one, "withdraw")
        (withdrawn,) = entries(one, "withdrawn")
        assert withdrawn.by == user

    def test_is_a_lockdown_that_another_one_replaced(self, one, manager):
        start(manager, one, scope="area", area="A1")
        start(manager, one)
        (replaced,) = entries(one, "replaced")
        assert len(replaced.after["doors"]) == 2


class TestWhatCameOfIt:
    def test_a_door_that_is_just_being_sent_to_is_not_sent_to_again(self, one, manager):
        start(manager, one)
        lose(one, "倉庫")
        press(manager, one, "again")
        with tenant_scope(one.tenant):
            assert Intent.objects.filter(state=State.QUEUED).count() == 3
            assert Intent.objects.count() == 4

    def test_a_door_that_was_known_to_be_open_before_is_not_opened_since(self, one, manager):
        with tenant_scope(one.tenant):
            before = database_now() - timedelta(minutes=1)
            PassController.objects.update(state=DoorState.UNLOCKED, state_since=before)
        start(manager, one)
        settle(one)
        with tenant_scope(one.tenant):
            PassController.objects.update(state=DoorState.UNLOCKED, state_since=before)
        html = page(manager, one)
        assert "3 of 3 doors locked" in html
        assert "unlocked again" not in html

    def test_nothing_is_tried_without_a_connection_and_the_page_says_why(self, one, manager):
        start(manager, one)
        settle(one)
        lose(one, "倉庫")
        time_passes(one, minutes=1)
        with tenant_scope(one.tenant):
            Connection.objects.update(state=Connection.State.BROKEN)
        step(one)
        with tenant_scope(one.tenant):
            assert Intent.objects.count() == 3
        assert "connection to the service is not working" in page(manager, one)
        assert came(one).count("missed") == 1
