"""A guard holds a door unlocked until a time: it then locks automatically, unless there is a newer command."""

import re
from datetime import timedelta
from unittest import mock

import pytest
from django.utils import timezone

from portal.base.timers.clock import ClockTime, database_now
from portal.devices import actions, door_orders, holds
from portal.devices.actions import DoorCommand
from portal.devices.models import Hold
from portal.domain.intents import sending, tracking
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.tasks import settle_abandoned
from portal.domain.places.models import PassController
from tenants.audit import PORTAL_ACTOR
from tenants.connections.oauth_grant import connected
from tenants.models import AuditEntry, Connection, Staff
from tenants.scope import tenant_scope
from tests.support.log import happened, loaded, record
from tests.support.places import fresh_nonce

DOOR = "mock_succeeded"
OVER = {"ends_at": ClockTime() - timedelta(seconds=1), "due_at": ClockTime() - timedelta(seconds=1)}


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id=DOOR, device_name="倉庫 入口")
    return place


@pytest.fixture
def user(one):
    return one.staff("guard")


@pytest.fixture
def guard(one, user):
    return one.client(user)


def page(place):
    return f"/t/{place.tenant.slug}/devices/{DOOR}/"


def press(client, place, control="cont_unlock", **more):
    """Press a button of the door's page, and let the service finish the command."""
    nonce = re.search(r'name="nonce" value="([^"]*)"', client.get(page(place)).content.decode())[1]
    answer = client.post(page(place) + "command/", {"nonce": nonce, "control": control, **more}, follow=True)
    settle(place)
    return answer.content.decode()


def settle(place):
    """Send all waiting requests, and follow them until they have ended."""
    with tenant_scope(place.tenant):
        for intent in Intent.objects.filter(state=State.QUEUED).order_by("pk"):
            sending.send(intent)
        Intent.objects.filter(state=State.ACCEPTED).update(due_at=database_now())
        for intent in Intent.objects.filter(state=State.ACCEPTED):
            tracking.poll(intent)


def hold(place):
    with tenant_scope(place.tenant):
        return Hold.objects.select_related("request", "by").latest("pk")


def time_is_over(place, times=1):
    """End the hold's time, and run its timer so many times."""
    with tenant_scope(place.tenant):
        Hold.objects.filter(due_at__isnull=False).update(**OVER)
        row = hold(place)
        for _ in range(times):
            holds.HOLDS.step(row.pk)
    settle(place)


def sent(place):
    return [each["control"] for each in place.sandbox.commands(place.service.tenant_id)]


def test_a_hold_says_until_when_and_by_whom_on_every_page(one, guard):
    press(guard, one, end="60")
    row = hold(one)
    assert timedelta(minutes=59) < row.ends_at - timezone.now() <= timedelta(hours=1)
    assert row.state == Hold.State.ACTIVE
    at = holds.times.local(row.ends_at)
    banner = guard.get(f"/t/{one.tenant.slug}/devices/").content.decode()
    assert "倉庫 入口 is held unlocked until " in banner
    assert f"{at:%H:%M} ({row.by}, since " in banner
    assert "Lock now" in banner


def test_at_its_time_the_portal_locks_the_door_once(one, guard):
    press(guard, one, end="15")
    time_is_over(one, times=3)
    assert sent(one) == ["cont_unlock", "lock"]
    assert hold(one).state == Hold.State.ENDED
    time_is_over(one)
    assert sent(one) == ["cont_unlock", "lock"]
    with tenant_scope(one.tenant):
        assert hold(one).request.automatic
        assert AuditEntry.objects.filter(action="operate_door", by_label=PORTAL_ACTOR).count() == 1
    assert "is held unlocked" not in guard.get(f"/t/{one.tenant.slug}/devices/").content.decode()


def test_nothing_is_sent_before_its_time(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        holds.HOLDS.step(hold(one).pk)
        assert hold(one).request is None
    settle(one)
    assert sent(one) == ["cont_unlock"]


def test_a_persons_newer_command_is_the_last_word(one, guard):
    press(guard, one, end="15")
    press(guard, one, "lock")
    assert hold(one).state == Hold.State.SUPERSEDED
    with tenant_scope(one.tenant):  # as if the portal had not noticed the newer command
        Hold.objects.update(state=Hold.State.ACTIVE, **OVER)
    time_is_over(one)
    assert sent(one) == ["cont_unlock", "lock"]
    assert hold(one).state == Hold.State.SUPERSEDED


@pytest.mark.parametrize("control", ["unlock", "in_unlock"])
def test_letting_a_visitor_through_does_not_leave_the_door_unlocked_for_the_night(one, guard, control):
    press(guard, one, end="15")
    assert "data-until" in press(guard, one, control)
    time_is_over(one)
    assert sent(one) == ["cont_unlock", control], "nobody is locked out in the doorway"
    with tenant_scope(one.tenant):
        Intent.objects.update(finished_at=ClockTime() - door_orders.PASSAGE_TIME)
    time_is_over(one)
    assert sent(one) == ["cont_unlock", control, "lock"]
    assert hold(one).state == Hold.State.ENDED


def test_a_command_that_comes_after_the_lock_was_recorded_is_the_last_word(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        Hold.objects.update(**OVER)
        holds.HOLDS.step(hold(one).pk)
    press(guard, one, end="60")
    settle(one)
    assert "lock" not in sent(one)
    with tenant_scope(one.tenant):
        assert Hold.objects.select_related("request").earliest("pk").request.reason == Reason.NEWER


def test_a_newer_command_that_was_never_sent_leaves_the_hold_as_it_was(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        late = Nonce(fresh_nonce().value, timezone.now() - timedelta(seconds=60))
        door = PassController.objects.get()
        longer = actions.send_command(door=door, command=DoorCommand.HOLD, by=one.asker, nonce=late, until=None)
        assert Intent.objects.get(pk=longer.pk).state == State.EXPIRED
        first = Hold.objects.earliest("pk")
        Hold.objects.update(**OVER)
        holds.HOLDS.step(first.pk)
        assert hold(one).state == Hold.State.FAILED
    settle(one)
    assert sent(one) == ["cont_unlock", "lock"]


def test_holding_longer_replaces_the_earlier_end(one, guard):
    press(guard, one, end="15")
    press(guard, one, end="240")
    with tenant_scope(one.tenant):
        assert list(Hold.objects.order_by("pk").values_list("state", flat=True)) == ["superseded", "active"]


def test_who_lost_the_right_does_not_leave_the_door_unlocked(one, guard, user):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        Staff.objects.filter(user=user).update(is_active=False)
    time_is_over(one)
    assert sent(one) == ["cont_unlock", "lock"]
    assert hold(one).request.by == one.owner
    assert hold(one).request.requested_by == "The portal"


def test_a_lock_that_came_to_nothing_is_tried_again_and_every_page_says_why(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        Hold.objects.update(**OVER)
        holds.HOLDS.step(hold(one).pk)
        Intent.objects.filter(pk=hold(one).request.pk).update(deadline=database_now() - timedelta(seconds=1))
    settle(one)
    assert hold(one).request.state == State.EXPIRED
    banner = guard.get(f"/t/{one.tenant.slug}/devices/").content.decode()
    assert "Relocking failed. Retrying." in banner
    time_is_over(one)
    assert sent(one) == ["cont_unlock"], "not before the pause is over"
    with tenant_scope(one.tenant):
        Intent.objects.update(finished_at=ClockTime() - timedelta(seconds=6))
    time_is_over(one)
    assert sent(one) == ["cont_unlock", "lock"]
    assert hold(one).state == Hold.State.ENDED


def test_a_hold_whose_answer_was_lost_is_locked_at_its_end_too(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        row = hold(one)
        Hold.objects.update(state=Hold.State.REQUESTED)
        Intent.objects.filter(pk=row.unlock_id).update(state=State.SENDING)
        settle_abandoned(Intent.objects.get(pk=row.unlock_id))
    assert hold(one).state == Hold.State.ACTIVE
    time_is_over(one)
    assert sent(one) == ["cont_unlock", "lock"]


def test_pauses_grow_to_five_minutes(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        door_order = holds.door_order_of(Hold.objects.select_related("by", "support_session").get())
    assert [door_order.pause_after(n).total_seconds() for n in (1, 2, 3, 20)] == [5, 10, 20, 300]


def test_without_an_end_that_can_be_nothing_is_sent(one, guard):
    assert "Choose how long" in press(guard, one)
    for moment in ("", "2020-01-01T10:00", f"{timezone.now() + timedelta(days=3):%Y-%m-%dT%H:%M}"):
        assert "within the next 24 hours" in press(guard, one, end="moment", moment=moment)
    assert sent(one) == []


def test_only_who_says_so_holds_a_door_without_an_end(one, guard):
    press(guard, one, end="open")
    assert hold(one).due_at is None
    assert "until locked manually" in guard.get(f"/t/{one.tenant.slug}/").content.decode()


def test_holding_longer_replaces_the_earlier_end_even_unnoticed(one, guard):
    press(guard, one, end="15")
    press(guard, one, end="240")
    with tenant_scope(one.tenant):  # as if the portal had not noticed the newer command
        first = Hold.objects.earliest("pk")
        Hold.objects.filter(pk=first.pk).update(state=Hold.State.ACTIVE, **OVER)
        holds.HOLDS.step(first.pk)
        assert Hold.objects.earliest("pk").state == Hold.State.SUPERSEDED
    settle(one)
    assert "lock" not in sent(one)


def test_without_a_connection_the_lock_is_tried_once_and_again_as_soon_as_there_is_one(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        Connection.objects.update(state=Connection.State.BROKEN)
    time_is_over(one)
    assert hold(one).request.reason == Reason.CONNECTION
    assert "connection to the service is not working" in guard.get(f"/t/{one.tenant.slug}/devices/").content.decode()
    with tenant_scope(one.tenant):
        Intent.objects.update(finished_at=ClockTime() - timedelta(seconds=6))
    time_is_over(one)
    with tenant_scope(one.tenant):
        assert Intent.objects.count() == 2
        assert hold(one).due_at > database_now()
        Hold.objects.update(attempts=9)
        Connection.objects.update(state=Connection.State.CONNECTED, granted_at=ClockTime())
        connected.send(Connection, connection=Connection.objects.select_related("tenant").get(), first=False)
        assert hold(one).due_at <= database_now()
        holds.HOLDS.step(hold(one).pk)
    settle(one)
    assert sent(one) == ["cont_unlock", "lock"]
    assert hold(one).state == Hold.State.ENDED


def test_a_lock_that_a_person_stopped_is_tried_again(one, guard):
    press(guard, one, end="15")
    with tenant_scope(one.tenant):
        Hold.objects.update(**OVER)
        holds.HOLDS.step(hold(one).pk)
        ago = ClockTime() - timedelta(seconds=6)
        stopped = {"state": State.CANCELLED, "reason": Reason.STOPPED, "finished_at": ago, "due_at": None}
        Intent.objects.filter(pk=hold(one).request_id).update(**stopped)
    time_is_over(one)
    assert sent(one) == ["cont_unlock", "lock"]


def test_six_in_the_evening_is_offered_until_six(one):
    noon = holds.times.local(timezone.now()).replace(hour=12)
    with mock.patch.object(holds, "database_now", return_value=noon):
        assert holds.HoldEnd.EVENING in holds.available_ends()
        assert holds.chosen_end("evening", "").hour == 18
        assert (holds.chosen_end("moment", f"{noon:%Y-%m-%d}T23:00") - noon) < holds.LONGEST_HOLD
    with mock.patch.object(holds, "database_now", return_value=noon.replace(hour=19)):
        assert holds.HoldEnd.EVENING not in holds.available_ends()
        with pytest.raises(NotSubmitted):
            holds.chosen_end("evening", "")


def test_the_newest_command_says_which_record_proves_it(one, guard):
    press(guard, one, "lock")
    loaded(one)
    assert "No record in the activity log yet." in guard.get(page(one)).content.decode()
    with tenant_scope(one.tenant):
        command = Intent.objects.get()
    words = f"Remote lock succeeded; request {command.request_id}"
    (row,) = happened(one, record(command.sent_at, category="operation", content=words, device_id=DOOR))
    shown = guard.get(page(one)).content.decode()
    assert f"/logs/records/{row.history_id}/" in shown.partition('id="door-commands"')[2].partition('id="happened"')[0]
