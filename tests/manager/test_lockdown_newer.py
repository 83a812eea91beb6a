"""Which later commands for a door keep a lockdown, or the lock after an evacuation, from it."""

import pytest

from portal.base.timers.clock import ClockTime
from portal.devices import actions as devices
from portal.devices.actions import DoorCommand
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.places.models import PassController
from portal.lockdown.door_outcomes import ORDERS
from portal.lockdown.models import LockdownSetting
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


def command(place, control, **changes):
    """Request this of the second door, as a person does on its page; return the request."""
    with tenant_scope(place.tenant):
        door = PassController.objects.get(device_name="倉庫")
        intent = devices.send_command(door=door, command=control, by=place.asker, nonce=fresh_nonce())
        Intent.objects.filter(pk=intent.pk).update(**changes)
    return intent


def locks(place):
    return sent(place).count((place.doors[1], "lock"))


def test_a_single_passage_does_not_keep_a_lockdown_from_a_door(one, manager):
    start(manager, one)
    lose(one, "倉庫")
    settle(one)
    time_passes(one, minutes=1)
    command(one, DoorCommand.UNLOCK)
    settle(one)
    step(one)
    assert locks(one) == 0, "nobody is locked out in the doorway"
    assert came(one) == ["done", "newer", "done"]
    assert "Not retried" not in page(manager, one)
    assert order(one).due_at is not None
    time_passes(one, seconds=31)
    step(one)
    assert locks(one) == 1
    assert came(one) == ["done"] * 3


def test_an_uncertain_lock_does_not_keep_a_lockdown_from_a_door(one, manager):
    start(manager, one)
    lose(one, "倉庫")
    settle(one)
    command(one, DoorCommand.LOCK, state=State.UNCERTAIN, reason=Reason.LOST, finished_at=ClockTime(), due_at=None)
    time_passes(one, minutes=1)
    before = locks(one)
    step(one)
    assert locks(one) == before + 1
    assert came(one) == ["done"] * 3


def test_an_uncertain_hold_keeps_a_lockdown_from_a_door(one, manager):
    start(manager, one)
    lose(one, "倉庫")
    settle(one)
    command(one, DoorCommand.HOLD, state=State.UNCERTAIN, reason=Reason.LOST, finished_at=ClockTime(), due_at=None)
    time_passes(one, minutes=30)
    step(one)
    assert locks(one) == 0
    assert came(one) == ["done", "newer", "done"]


def test_a_lock_that_succeeded_is_enough(one, manager):
    start(manager, one)
    lose(one, "倉庫")
    settle(one)
    command(one, DoorCommand.LOCK)
    settle(one)
    time_passes(one, minutes=1)
    step(one)
    assert locks(one) == 1
    assert came(one) == ["done"] * 3


def test_locking_after_an_evacuation_goes_on_if_a_newer_command_comes_to_nothing(one, manager):
    with tenant_scope(one.tenant):
        LockdownSetting.objects.create(evacuation=True, doors=one.doors[:2])
    nonce = nonce_of(manager, url(one, "evacuation/"))
    manager.post(url(one, "evacuation/start/"), {"nonce": nonce})
    settle(one)
    press(manager, one, "release")
    lose(one, "倉庫")
    settle(one)
    later = command(one, DoorCommand.LOCK)
    with tenant_scope(one.tenant):
        Intent.objects.filter(pk=later.pk).update(state=State.ACCEPTED, finished_at=None)
        ORDERS.step(order(one).pk)
        assert order(one).state == "active"
        ended = {"state": State.EXPIRED, "reason": Reason.TOO_LATE, "finished_at": ClockTime(), "due_at": None}
        Intent.objects.filter(pk=later.pk).update(**ended)
    time_passes(one, minutes=1)
    before = locks(one)
    step(one)
    step(one)
    assert locks(one) == before + 1
    assert order(one).state == "done"
