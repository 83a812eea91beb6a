"""A facility manager locks many doors at once: the preview, and the result at each door."""

import re
from datetime import timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.devices import actions as devices
from portal.devices.actions import DoorCommand
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.tasks import process_due
from portal.domain.places.models import DoorState, PassController
from portal.lockdown.models import Lockdown, LockdownDoor
from tenants.models import Connection, Staff
from tenants.scope import tenant_scope
from tests.support.lockdown import (
    calls_an_hour,
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
from tests.support.places import PASSWORD, age_proof, fresh_nonce


@pytest.fixture
def one(place):
    return furnish(place)


@pytest.fixture
def user(one):
    return one.staff("facility manager")


@pytest.fixture
def manager(one, user):
    return one.client(user)


class TestBefore:
    def test_the_preview_says_which_doors_and_what_it_takes(self, one, manager):
        with tenant_scope(one.tenant):
            PassController.objects.filter(device_name="倉庫").update(state=DoorState.OFFLINE)
        no_calls_left(one, left=2)
        html = manager.get(url(one, "new/?scope=all")).content.decode()
        assert "Uses 2 of 2 API calls left this hour (1 reserved for doors)" in html
        assert "2 now, 1 after" in html
        assert re.search(r"Probably unreachable</dt>\s*<dd>\s*倉庫\s*<", html)
        assert "Lock 3 doors now" in html
        assert sent(one) == []

    def test_an_area_or_chosen_doors_alone_can_be_meant(self, one, manager):
        assert "Lock 2 doors now" in manager.get(url(one, "new/?scope=area&area=A1")).content.decode()
        assert "Lock 1 door now" in manager.get(url(one, f"new/?scope=chosen&door={one.doors[2]}")).content.decode()

    def test_what_stands_against_it_is_said(self, one, manager):
        with tenant_scope(one.tenant):
            Connection.objects.update(licence_key=None)
        assert "No licence key" in manager.get(url(one, "new/?scope=all")).content.decode()
        with tenant_scope(one.tenant):
            Connection.objects.update(state=Connection.State.BROKEN)
        assert "connection to the service is not working" in manager.get(url(one, "new/?scope=all")).content.decode()

    def test_the_page_of_doors_leads_there(self, one, manager):
        assert url(one) in manager.get(f"/t/{one.tenant.slug}/devices/").content.decode()
        auditor = one.client(one.staff("auditor"))
        _, _, page = auditor.get(f"/t/{one.tenant.slug}/devices/").content.decode().partition("<main")
        assert f'href="{url(one)}"' not in page.partition("</main>")[0]

    @pytest.mark.parametrize("wanted", [{"scope": ""}, {"scope": "everything"}, {"scope": "area", "area": "A9"},
                                        {"scope": "chosen", "door": "\x00"}])  # fmt: skip
    def test_a_choice_that_means_no_door_sends_nothing(self, one, manager, wanted):
        assert "Nothing was sent" in start(manager, one, **wanted).content.decode()
        with tenant_scope(one.tenant):
            assert not Lockdown.objects.exists()

    def test_a_form_of_another_tenant_sends_nothing(self, one, make, manager):
        other = make()
        with tenant_scope(other.tenant):
            PassController.objects.create(device_id="X", device_name="X")
        nonce = nonce_of(other.client(), url(other, "new/?scope=all"))
        html = manager.post(url(one, "start/"), {"nonce": nonce, "scope": "all"}, follow=True).content.decode()
        assert "another tenant" in html
        assert sent(one) == []


class TestStarting:
    def test_each_door_gets_one_lock_within_its_own_fifteen_seconds(self, one, manager, user):
        start(manager, one)
        with tenant_scope(one.tenant):
            for intent in Intent.objects.all():
                assert (intent.permission, intent.priority, intent.by) == ("lockdown", 0, user)
                assert intent.deadline - intent.created_at <= timedelta(seconds=15)
        settle(one)
        assert sent(one) == sorted((door, "lock") for door in one.doors)
        assert "3 of 3 doors locked" in page(manager, one)

    def test_doors_that_are_not_locked_come_first(self, one, manager):
        with tenant_scope(one.tenant):
            PassController.objects.update(state=DoorState.LOCKED)
            PassController.objects.filter(device_name="会議室").update(state=DoorState.HELD)
        start(manager, one)
        with tenant_scope(one.tenant):
            assert Intent.objects.earliest("pk").path["device_id"] == one.doors[2]

    def test_a_second_click_and_the_back_button_find_the_same_lockdown(self, one, manager):
        fields = {"nonce": nonce_of(manager, url(one, "new/?scope=all")), "scope": "all"}
        for _ in range(3):
            manager.post(url(one, "start/"), fields)
        settle(one)
        press(manager, one, "release")
        manager.post(url(one, "start/"), fields)
        settle(one)
        assert len(sent(one)) == 3
        with tenant_scope(one.tenant):
            assert Lockdown.objects.get().state == "released"

    def test_whoever_has_to_confirm_first_is_asked_and_it_goes_through_once(self, one, manager):
        nonce = nonce_of(manager, url(one, "new/?scope=all"))
        age_proof(manager.session)
        asked = manager.post(url(one, "start/"), {"nonce": nonce, "scope": "area", "area": "A1"})
        html = manager.get(asked["Location"]).content.decode()
        assert "<h1>Start lockdown</h1>" in html
        hidden = dict(re.findall(r'<input type="hidden" name="(next|made)" value="([^"]*)"', html))
        answer = manager.post(asked["Location"].partition("?")[0], {**hidden, "password": PASSWORD})
        assert answer["Location"] == url(one, f"{order(one).pk}/")
        settle(one)
        assert sent(one) == sorted((door, "lock") for door in one.doors[:2])

    @pytest.mark.parametrize("role", ["receptionist", "auditor"])
    def test_nobody_else_may(self, one, role):
        client = one.client(one.staff(role))
        assert client.get(url(one, "new/")).status_code == 403
        assert client.post(url(one, "start/"), {"scope": "all"}).status_code == 403

    def test_the_next_one_replaces_it_and_brings_its_other_doors_along(self, one, manager):
        start(manager, one, scope="area", area="A1")
        settle(one)
        start(manager, one, scope="chosen", door=one.doors[2])
        settle(one)
        assert came(one) == ["done"] * 3
        assert len(sent(one)) == 3
        with tenant_scope(one.tenant):
            assert list(Lockdown.objects.order_by("pk").values_list("state", flat=True)) == ["replaced", "active"]


class TestWhatCameOfIt:
    def test_the_headline_says_what_is_not_certain_and_the_list_begins_with_it(self, one, manager):
        start(manager, one)
        lose(one, "会議室")
        lose(one, "倉庫", Reason.LOST, State.UNCERTAIN)
        html = page(manager, one)
        assert "0 of 3 doors locked" in html
        assert "1 being sent, 1 not reached, 1 uncertain" in html
        assert re.findall(r'data-came="(\w+)"', html) == ["missed", "uncertain", "sending"]
        assert "The service could not be reached. Next try at" in html
        assert "It may have been carried out. Next try at" in html

    def test_doors_beyond_the_calls_left_are_told_as_not_sent_and_follow_when_calls_return(self, one, manager):
        calls_an_hour(one, 1)
        start(manager, one)
        settle(one)
        with tenant_scope(one.tenant):
            Intent.objects.filter(state=State.QUEUED).update(deadline=database_now() - timedelta(seconds=1))
        process_due()
        settle(one)
        assert sorted(came(one)) == ["done", "missed", "missed"]
        step(one)
        assert len(sent(one)) == 1
        assert order(one).due_at > database_now() + timedelta(minutes=10)
        html = page(manager, one)
        assert "No API calls left this hour. Next try at" in html
        calls_an_hour(one, 3)
        step(one)
        assert came(one) == ["done"] * 3
        assert len(sent(one)) == 3

    def test_pauses_grow_for_a_door_that_does_not_answer(self, one, manager):
        start(manager, one)
        settle(one)
        lose(one, "倉庫")
        step(one)
        assert len(sent(one)) == 3
        with tenant_scope(one.tenant):
            LockdownDoor.objects.filter(name="倉庫").update(attempts=3)
        time_passes(one, seconds=119)
        step(one)
        assert len(sent(one)) == 3
        time_passes(one, seconds=2)
        step(one)
        assert len(sent(one)) == 4
        assert came(one) == ["done"] * 3
        with tenant_scope(one.tenant):
            retry = Intent.objects.latest("pk")
            assert retry.requested_by == "The portal"
        step(one)
        assert order(one).due_at is None

    def test_a_persons_newer_command_is_the_last_word_about_that_door(self, one, manager):
        start(manager, one)
        lose(one, "倉庫")
        with tenant_scope(one.tenant):
            door = PassController.objects.get(device_name="倉庫")
            devices.send_command(door=door, command=DoorCommand.HOLD, by=one.asker, nonce=fresh_nonce())
        settle(one)
        time_passes(one, minutes=30)
        step(one)
        assert came(one) == ["done", "newer", "done"]
        assert sent(one).count((one.doors[1], "lock")) == 0
        html = page(manager, one)
        assert "1 overridden" in html
        assert "Newer command: Hold unlocked: 倉庫 (" in html
        assert "Not retried" in html

    def test_a_newer_command_that_was_never_sent_is_not(self, one, manager):
        start(manager, one)
        lose(one, "倉庫")
        with tenant_scope(one.tenant):
            door = PassController.objects.get(device_name="倉庫")
            asked = devices.send_command(door=door, command=DoorCommand.HOLD, by=one.asker, nonce=fresh_nonce())
            Intent.objects.filter(pk=asked.pk).update(state=State.EXPIRED, reason=Reason.TOO_LATE)
        settle(one)
        time_passes(one, minutes=1)
        step(one)
        assert came(one) == ["done"] * 3

    def test_a_door_that_was_opened_since_is_told_first(self, one, manager):
        start(manager, one)
        settle(one)
        with tenant_scope(one.tenant):
            now = database_now() + timedelta(seconds=1)
            PassController.objects.filter(device_name="会議室").update(state=DoorState.FORCED_OPEN, state_since=now)
        html = page(manager, one)
        assert "2 of 3 doors locked" in html
        assert "1 unlocked again" in html
        assert re.search(r'data-id="([^"]+)" data-came', html)[1] == one.doors[2]

    def test_a_person_can_send_again_at_once_to_those_not_reached(self, one, manager):
        start(manager, one)
        settle(one)
        lose(one, "倉庫", Reason.STOPPED)
        assert "Not retried automatically" in page(manager, one)
        press(manager, one, "again")
        settle(one)
        assert len(sent(one)) == 4
        assert came(one) == ["done"] * 3

    def test_when_who_started_it_lost_the_right_nothing_is_tried_until_somebody_else_sends_again(
        self, one, manager, user
    ):
        start(manager, one)
        settle(one)
        lose(one, "倉庫")
        time_passes(one, minutes=1)
        with tenant_scope(one.tenant):
            Staff.objects.filter(user=user).update(role="auditor")
        step(one)
        assert len(sent(one)) == 3
        owner = one.client()
        assert "no longer has permission" in page(owner, one)
        press(owner, one, "again")
        settle(one)
        assert came(one) == ["done"] * 3

    def test_an_open_page_asks_again_and_gets_nothing_while_nothing_changes(self, one, manager):
        start(manager, one)
        settle(one)
        seen = re.search(r'id="lockdown-now"[^>]* data-version="([^"]*)"', page(manager, one))[1]
        address = url(one, f"{order(one).pk}/")
        assert manager.get(address, headers={"X-Version": seen}).status_code == 204
        lose(one, "倉庫")
        assert "1 not reached" in manager.get(address, headers={"X-Version": seen}).content.decode()
