"""Unlocking doors for an evacuation, and when two people must agree before anything is sent."""

from datetime import timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.devices import actions as devices
from portal.devices.actions import DoorCommand
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.places.models import DoorState, PassController
from portal.lockdown.models import Lockdown, LockdownSetting
from tenants.models import AuditEntry, Staff
from tenants.roles import PLATFORM_ROLES, Permission
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
from tests.support.places import fresh_nonce


@pytest.fixture
def one(place):
    return furnish(place)


def choose(place, *doors, second="", **more):
    """Save the tenant's setting, as an owner does with its form."""
    on = {"evacuation": "on"} if doors else {}
    fields = {"door": doors, "second": second, **on, **more}
    return place.client().post(url(place, "settings/save/"), fields, follow=True).content.decode()


def unlock(client, place, act="start"):
    """Press the button of the evacuation's page."""
    nonce = nonce_of(client, url(place, "evacuation/"))
    return client.post(url(place, f"evacuation/{act}/"), {"nonce": nonce}, follow=True).content.decode()


def said_in_the_audit_log(place, family):
    with tenant_scope(place.tenant):
        return [str(each.summary) for each in AuditEntry.objects.filter(action__startswith=f"{family}.").order_by("pk")]


class TestUnlockingForAnEvacuation:
    def test_it_is_off_until_somebody_switches_it_on_and_chooses_doors(self, one, manager):
        assert "Evacuation unlock is off" in manager.get(url(one, "evacuation/")).content.decode()
        answer = manager.post(url(one, "evacuation/start/"), {"nonce": nonce_of(manager, url(one, "new/?scope=all"))},
                              follow=True)  # fmt: skip
        assert "Evacuation unlock is off" in answer.content.decode()
        choose(one, *one.doors[:2], "no such door")
        with tenant_scope(one.tenant):
            assert sorted(LockdownSetting.objects.get().doors) == sorted(one.doors[:2])
        assert "Unlock 2 doors now" in manager.get(url(one, "evacuation/")).content.decode()
        assert sent(one) == []
        assert said_in_the_audit_log(one, "lockdown") == ["Lockdown settings changed"]

    def test_each_chosen_door_is_held_once_and_every_page_says_so(self, one, manager):
        choose(one, *one.doors[:2])
        unlock(manager, one)
        settle(one)
        assert sent(one) == sorted((door, "cont_unlock") for door in one.doors[:2])
        assert "2 of 2 doors held unlocked" in page(manager, one)
        assert (
            "Evacuation unlock: 2 of 2 doors held unlocked." in manager.get(f"/t/{one.tenant.slug}/").content.decode()
        )

    def test_what_unlocks_is_never_sent_again_but_by_a_person(self, one, manager):
        choose(one, *one.doors[:2])
        unlock(manager, one)
        lose(one, "倉庫", Reason.LOST, State.UNCERTAIN)
        settle(one)
        time_passes(one, hours=1)
        step(one)
        assert sent(one) == [(one.doors[0], "cont_unlock")]
        assert "Not retried automatically" in page(manager, one)
        press(manager, one, "again")
        settle(one)
        assert came(one) == ["done", "done"]

    def test_the_release_locks_each_door_again_and_goes_on_until_it_is(self, one, manager):
        choose(one, *one.doors[:2])
        unlock(manager, one)
        settle(one)
        press(manager, one, "release")
        lose(one, "倉庫")
        settle(one)
        assert came(one) == ["done", "missed"]
        time_passes(one, minutes=1)
        step(one)
        step(one)
        assert came(one) == ["done", "done"]
        assert order(one).state == "done"
        assert [control for _door, control in sent(one)].count("lock") == 2
        with tenant_scope(one.tenant):
            assert Lockdown.objects.get(kind="evacuation").state == "released"
        assert said_in_the_audit_log(one, "relock") == ["Locking after an evacuation started: 2 doors"]

    def test_the_release_leaves_doors_alone_that_got_a_newer_command(self, one, manager):
        choose(one, *one.doors[:2])
        unlock(manager, one)
        settle(one)
        with tenant_scope(one.tenant):
            door = PassController.objects.get(device_name="倉庫")
            devices.send_command(door=door, command=DoorCommand.HOLD, by=one.asker, nonce=fresh_nonce())
        press(manager, one, "release")
        settle(one)
        assert (one.doors[1], "lock") not in sent(one)
        assert (one.doors[0], "lock") in sent(one)

    def test_the_release_locks_a_door_through_which_somebody_was_let(self, one, manager):
        choose(one, *one.doors[:2])
        unlock(manager, one)
        settle(one)
        with tenant_scope(one.tenant):
            door = PassController.objects.get(device_name="倉庫")
            devices.send_command(door=door, command=DoorCommand.UNLOCK, by=one.asker, nonce=fresh_nonce())
        settle(one)
        assert "1 overridden" in page(manager, one)
        press(manager, one, "release")
        settle(one)
        assert came(one) == ["done", "done"]
        assert (one.doors[1], "lock") in sent(one)

    def test_a_lockdown_that_stands_leaves_its_doors_alone(self, one, manager):
        choose(one, one.doors[0])
        start(manager, one)
        lose(one, "正面")
        settle(one)
        unlock(manager, one)
        settle(one)
        time_passes(one, minutes=30)
        with tenant_scope(one.tenant):
            lockdown = Lockdown.objects.get(kind="lockdown")
        step(one, lockdown)
        assert (one.doors[0], "lock") not in sent(one)
        assert "1 overridden" in manager.get(url(one, f"{lockdown.pk}/")).content.decode()

    def test_a_rehearsal_sends_nothing(self, one, manager):
        choose(one, *one.doors[:2])
        with tenant_scope(one.tenant):
            PassController.objects.filter(device_name="倉庫").update(state=DoorState.OFFLINE)
        html = unlock(manager, one, "rehearse")
        assert "Rehearsal: 2 doors, nothing sent" in html
        assert "Would be held unlocked. Offline" in html
        with tenant_scope(one.tenant):
            assert not Intent.objects.exists()

    def test_a_guard_unlocks_the_chosen_doors_and_chooses_none(self, one, manager):
        choose(one, one.doors[0])
        guard = one.client(one.staff("guard"))
        guard.post(url(one, "evacuation/start/"), {"nonce": nonce_of(guard, url(one, "evacuation/"))})
        settle(one)
        assert (one.doors[0], "cont_unlock") in sent(one)
        assert guard.post(url(one, "settings/save/"), {"second": ""}).status_code == 403

    def test_an_auditor_may_neither_unlock_nor_choose(self, one, manager):
        choose(one, one.doors[0])
        auditor = one.client(one.staff("auditor"))
        assert auditor.post(url(one, "evacuation/start/")).status_code == 403
        assert auditor.post(url(one, "settings/save/"), {"second": ""}).status_code == 403
        assert "Choose what requires a second confirmation" in choose(one, second="nobody")


class TestTwoPersons:
    def test_the_first_asks_the_second_confirms_and_then_it_is_sent(self, one, manager, colleague):
        choose(one, second="both")
        assert (
            "A second person must confirm within 10 minutes" in manager.get(url(one, "new/?scope=all")).content.decode()
        )
        start(manager, one)
        settle(one)
        assert sent(one) == []
        assert "needs a second confirmation: Lockdown." in colleague.get(f"/t/{one.tenant.slug}/").content.decode()
        guard = one.client(one.staff("guard"))
        assert "asks for a second person" not in guard.get(f"/t/{one.tenant.slug}/").content.decode()
        press(colleague, one, "confirm")
        settle(one)
        assert came(one) == ["done"] * 3
        assert "confirmed by" in page(manager, one)
        assert said_in_the_audit_log(one, "lockdown")[1:] == [
            "Lockdown requested, waiting for a second person: 3 doors", "Lockdown started: 3 doors",
        ]  # fmt: skip
        with tenant_scope(one.tenant):
            assert {intent.by for intent in Intent.objects.all()} == {order(one).confirmed_by}

    def test_nobody_confirms_what_they_asked_for_themselves(self, one, manager):
        choose(one, second="both")
        start(manager, one)
        html = page(manager, one)
        assert "Confirm and send now" not in html
        assert "Nothing was sent. Another person with this permission must confirm it." in press(
            manager, one, "confirm"
        )
        settle(one)
        assert sent(one) == []

    def test_after_ten_minutes_it_is_over_and_says_so(self, one, manager, colleague):
        choose(one, second="both")
        start(manager, one)
        nonce = nonce_of(colleague, url(one, f"{order(one).pk}/"))
        with tenant_scope(one.tenant):
            assert order(one).confirm_by - database_now() <= timedelta(minutes=10)
            Lockdown.objects.update(confirm_by=database_now() - timedelta(seconds=1))
        answer = colleague.post(url(one, f"{order(one).pk}/confirm/"), {"nonce": nonce}, follow=True).content.decode()
        assert "not confirmed in time" in answer
        assert "Not confirmed, nothing sent" in answer
        assert "asks for a second person" not in colleague.get(f"/t/{one.tenant.slug}/").content.decode()
        settle(one)
        assert sent(one) == []

    def test_it_can_be_taken_back_and_is_confirmed_once(self, one, manager, colleague):
        choose(one, second="both")
        start(manager, one)
        nonce = nonce_of(colleague, url(one, f"{order(one).pk}/"))
        press(manager, one, "withdraw")
        confirmed = colleague.post(url(one, f"{order(one).pk}/confirm/"), {"nonce": nonce}, follow=True)
        assert "already ended or changed" in confirmed.content.decode()
        settle(one)
        assert sent(one) == []

    def test_who_asked_and_lost_the_right_meanwhile_does_not_count(self, one, manager, colleague):
        choose(one, second="both")
        start(manager, one)
        with tenant_scope(one.tenant):
            Staff.objects.filter(user=order(one).started_by).update(role="auditor")
        assert "no longer has permission" in press(colleague, one, "confirm")
        assert sent(one) == []

    def test_locking_alone_can_be_excepted(self, one, manager, colleague):
        choose(one, one.doors[0], second="evacuation")
        start(manager, one, scope="chosen", door=one.doors[1])
        settle(one)
        assert sent(one) == [(one.doors[1], "lock")]
        unlock(manager, one)
        settle(one)
        assert len(sent(one)) == 1
        press(colleague, one, "confirm")
        settle(one)
        assert (one.doors[0], "cont_unlock") in sent(one)
        press(manager, one, "release")  # locking again needs no second person
        settle(one)
        assert (one.doors[0], "lock") in sent(one)

    def test_in_a_support_session_nobody_counts(self):
        assert not any(Permission.LOCKDOWN in role.permissions for role in PLATFORM_ROLES)
