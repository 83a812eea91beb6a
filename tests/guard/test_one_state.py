"""A door has one state: every page, plan and list that shows the door says the same at one moment."""

from datetime import timedelta

import pytest

from accessapi.doors import DoorEvent
from portal.base.timers.clock import database_now
from portal.devices import status_reading
from portal.domain.alerts.models import Alert, Severity
from portal.domain.cameras.models import Camera
from portal.domain.intents import sending, tracking
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import record_intent
from portal.domain.places import door_states
from portal.domain.places.models import PassController
from portal.keys import status_reading as key_tasks
from portal.lockdown.models import Kind, Lockdown, LockdownDoor, Scope, State
from portal.plans.models import FloorPlan, Placed, Placement
from tenants.scope import across_tenants, tenant_scope
from tests.support.doors import calls_of_devices, door, door_command, hear, read_due, real_doors, shows
from tests.support.keys import key_box
from tests.support.one_state import PAGES, Kept, said_on
from tests.support.places import fresh_nonce

NAME = "倉庫 入口"


@pytest.fixture
def one(place):
    """Create a door that is on a plan, has an intercom and an alert, and was part of a lockdown drill."""
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D", device_name=NAME)
        Camera.objects.create(camera_id="C", name="通用口カメラ", doors=["D"], is_intercom=True)
        by = {"by": place.owner, "started_by": place.owner}
        plan = FloorPlan.objects.create(name="1F", content=b"-", mark="m", width=8, height=4, by=place.owner)
        Placement.objects.create(plan=plan, kind=Placed.DOOR, identifier="D", x=500, y=500)
        order = Lockdown.objects.create(nonce="n", kind=Kind.LOCKDOWN, state=State.REHEARSED, scope=Scope.ALL, **by)
        LockdownDoor.objects.create(lockdown=order, device_id="D", name=NAME)
        times = dict.fromkeys(("began_at", "last_at", "ended_at"), database_now())
        facts = {"facts": {"device": "D", "device_name": NAME}, "severity": Severity.INFO, "weight": 0}
        alert = Alert.objects.create(kind="suspicious", subject="pass_controller:D", **times, **facts)
    place.pages = PAGES | {
        "door": "devices/D/",
        "alert": f"alerts/{alert.pk}/",
        "plan": f"plans/{plan.pk}/",
        "intercom": "intercom/C/",
        "lockdown": f"lockdown/{order.pk}/",
    }
    return place


@pytest.fixture
def user(one):
    return one.client()


def said_of(client, place, page):
    """Return the state that a page shows for the door."""
    return said_on(page, client.get(f"/t/{place.tenant.slug}/{place.pages[page]}").content.decode(), NAME)


def tell(place, word, ago=0.0, **more):
    with tenant_scope(place.tenant):
        at = database_now() - timedelta(seconds=ago)
        assert door_states.apply_event(place.tenant, "D", word, at=at, **more)


STATES = {
    "Locked": lambda one: shows(one, "D"),
    "Unlocked": lambda one: (shows(one, "D", lock="unlock", ago=90), shows(one, "D", lock="unlock")),
    "Open": lambda one: shows(one, "D", door="open"),
    "Forced open": lambda one: shows(one, "D", errors=["forced_open"]),
    "Left open": lambda one: tell(one, DoorEvent.LEFT_OPEN),
    "Held unlocked": lambda one: tell(one, DoorEvent.HELD_UNLOCKED),
    "Held open": lambda one: (shows(one, "D", door="open"), tell(one, DoorEvent.HELD_UNLOCKED)),
    "Offline": lambda one: (shows(one, "D", ago=60), tell(one, DoorEvent.CONNECTION_LOST, content="Connection lost")),
    "Unknown": lambda one: None,
    "Unknown: half": lambda one: shows(one, "D", lock="half"),
    "Locked (Unlocking failed)": lambda one: shows(one, "D", errors=["unlock_error"]),
    "Locked (No power)": lambda one: shows(one, "D", power_status="stopped"),
    "Forced open (Disconnected)": lambda one: shows(one, "D", errors=["forced_open"], cloud_com_status="disconnected"),
    "Offline (No power)": lambda one: shows(one, "D", cloud_com_status="lost", power_status="stopped"),
}


@pytest.mark.parametrize("state", STATES)
def test_each_state_reads_the_same_on_every_page(one, user, state):
    STATES[state](one)
    with tenant_scope(one.tenant):
        wanting = PassController.objects.get().attention
    pages = [page for page in one.pages if wanting or page != "overview"]
    assert {page: said_of(user, one, page) for page in pages} == dict.fromkeys(pages, state)


FRESH = {
    "status": {}, "status_as_of": None, "state": "", "state_since": None, "is_since_seen": False, "attention": False,
    "events": {}, "known_at": None, "look_at": None, "urgent": False,
}  # fmt: skip


@pytest.mark.django_db(transaction=True)  # a browser: open pages refresh automatically
def test_pages_that_stay_open_say_the_same_after_every_change(one, user, open_page):
    kept = Kept(open_page(user), {page: f"/t/{one.tenant.slug}/{rest}" for page, rest in one.pages.items()})
    for state, happens in STATES.items():
        with tenant_scope(one.tenant):
            PassController.objects.update(**FRESH)
        happens(one)
        kept.look()
        kept.come_to_say(NAME, state, not_on=() if door(one, "D").attention else ("overview",))


def since_of(place):
    with tenant_scope(place.tenant):
        return PassController.objects.get().since


def all_say(client, place, *, pages=None):
    """Check that all pages show the same state of the door, and return it."""
    found = {said_of(client, place, page) for page in pages or place.pages if pages or page != "overview"}
    assert len(found) == 1, found
    return found.pop()


class TestALineThatIsLost:
    def test_the_record_makes_the_door_offline_since_then(self, one, user):
        shows(one, "D", ago=400)
        tell(one, DoorEvent.CONNECTION_LOST, ago=5, content="Connection lost")
        assert all_say(user, one, pages=list(one.pages)) == "Offline"
        assert 5 <= (database_now() - since_of(one)).total_seconds() < 30

    def test_a_reading_that_shows_the_door_out_of_reach_keeps_the_records_moment(self, one):
        shows(one, "D", ago=400)
        tell(one, DoorEvent.CONNECTION_LOST, ago=90, content="Connection lost")
        told = since_of(one)
        shows(one, "D", cloud_com_status="disconnected")
        assert since_of(one) == told

    def test_a_late_record_gives_its_moment_to_a_door_that_a_reading_found_offline(self, one):
        shows(one, "D", ago=500)
        shows(one, "D", ago=60, cloud_com_status="disconnected")
        assert since_of(one) is None
        tell(one, DoorEvent.CONNECTION_LOST, ago=300, content="Connection lost")
        assert (database_now() - since_of(one)).total_seconds() >= 300

    def test_back_in_reach_nothing_is_known_until_a_reading(self, one, user):
        shows(one, "D", ago=400)
        tell(one, DoorEvent.CONNECTION_LOST, ago=60, content="Connection lost")
        tell(one, DoorEvent.CONNECTION_RESTORED, content="Connection lost")
        assert all_say(user, one) == "Unknown"
        shows(one, "D")
        assert all_say(user, one) == "Locked"
        assert since_of(one) is None

    def test_a_door_without_power_and_without_a_line_stays_offline_until_both_are_back(self, one, user):
        shows(one, "D", ago=400)
        tell(one, DoorEvent.CONNECTION_LOST, ago=60, content="Power cut")
        tell(one, DoorEvent.CONNECTION_LOST, ago=50, content="Connection lost")
        tell(one, DoorEvent.CONNECTION_RESTORED, ago=5, content="Connection lost")
        assert all_say(user, one, pages=list(one.pages)) == "Offline"
        assert (database_now() - since_of(one)).total_seconds() >= 60
        tell(one, DoorEvent.CONNECTION_RESTORED, content="Power cut")
        assert all_say(user, one) == "Unknown"

    def test_an_old_record_does_not_take_away_a_door_that_was_read_since(self, one, user):
        shows(one, "D")
        with tenant_scope(one.tenant):
            at = database_now() - timedelta(minutes=30)
            assert not door_states.apply_event(
                one.tenant, "D", DoorEvent.CONNECTION_LOST, at=at, content="Connection lost"
            )
        assert all_say(user, one) == "Locked"

    def test_the_services_own_record_is_heard_and_the_door_is_read(self, place):
        device_id = real_doors(place)[0]
        hear(place)
        while read_due(place):
            pass
        lines = {"tenant_id": place.service.tenant_id, "device_id": device_id}
        place.sandbox.console("devices", **lines, is_connected=False)
        hear(place)
        assert (door(place, device_id).state, door(place, device_id).is_since_seen) == ("offline", True)
        place.sandbox.console("devices", **lines, is_connected=True)
        hear(place)
        assert door(place, device_id).state == ""
        assert read_due(place) == 1
        assert door(place, device_id).state == "locked"


class TestAMomentaryUnlock:
    def unlock(self, place, ago=0.0):
        with tenant_scope(place.tenant):
            door_states.apply_event(place.tenant, "D", DoorEvent.PASSING)
            PassController.objects.update(events={"passing": (database_now() - timedelta(seconds=ago)).isoformat()})

    def test_it_is_unlocked_and_calm_and_read_again_when_it_should_have_locked(self, one, user):
        shows(one, "D", ago=300)
        self.unlock(one)
        shows(one, "D", lock="unlock")
        assert all_say(user, one) == "Unlocked"
        row = door(one, "D")
        assert not row.attention
        assert row.urgent
        assert 8 < (row.look_at - database_now()).total_seconds() <= 10

    def test_the_reading_after_it_shows_locked_and_since_when(self, one, user):
        shows(one, "D", ago=300)
        self.unlock(one, ago=11)
        shows(one, "D", lock="unlock", ago=8)
        shows(one, "D")
        assert all_say(user, one) == "Locked"
        assert since_of(one) is not None

    def test_attention_begins_where_it_should_have_locked_and_did_not(self, one, user):
        shows(one, "D", ago=300)
        self.unlock(one, ago=11)
        shows(one, "D", lock="unlock")
        assert door(one, "D").attention
        assert all_say(user, one, pages=list(one.pages)) == "Unlocked"

    def test_an_environment_says_how_long_its_doors_take(self, make):
        place = make(overrides="[limits]\nrelock_seconds = 30")
        with tenant_scope(place.tenant):
            PassController.objects.create(device_id="D", device_name=NAME)
        shows(place, "D", ago=300)
        self.unlock(place, ago=11)
        shows(place, "D", lock="unlock")
        assert not door(place, "D").attention

    def test_somebody_who_passes_by_card_alarms_nobody(self, one):
        shows(one, "D", ago=300)
        shows(one, "D", lock="unlock")
        assert not door(one, "D").attention
        assert (door(one, "D").look_at - database_now()).total_seconds() <= 10

    def test_the_clock_asks_for_the_reading_and_a_worker_makes_it(self, place):
        device_id = real_doors(place)[0]
        shows(place, device_id, ago=300)
        shows(place, device_id, lock="unlock", ago=20)
        with tenant_scope(place.tenant):
            PassController.objects.exclude(device_id=device_id).update(look_at=database_now() + timedelta(hours=1))
            PassController.objects.filter(device_id=device_id).update(look_at=database_now())
        with across_tenants("as the clock does"):
            assert [row.device_id for row in status_reading.URGENT_DOORS.querysets()[0]] == [device_id]
        with tenant_scope(place.tenant):
            assert status_reading.read_soon() == 1
        assert door(place, device_id).state == "locked"
        with across_tenants("as the clock does"):
            assert not status_reading.URGENT_DOORS.querysets()[0]

    def test_where_no_call_is_left_to_see_it_nobody_knows(self, one, user):
        shows(one, "D", ago=300)
        shows(one, "D", lock="unlock", ago=20)
        with tenant_scope(one.tenant):
            PassController.objects.update(look_at=database_now())
            door_states.postpone_missed()
        assert all_say(user, one) == "Unknown"
        assert since_of(one) is None

    def test_a_press_is_read_once_more_when_the_door_should_have_locked(self, place):
        [device_id, *_] = real_doors(place)
        shows(place, device_id, ago=300)
        with tenant_scope(place.tenant):
            PassController.objects.exclude(device_id=device_id).update(look_at=database_now() + timedelta(hours=1))
            sending.send(record_intent(door_command(device_id), by=place.asker, nonce=fresh_nonce())[0])
            place.sandbox.move_clock(place.service.tenant_id, seconds=2)
            Intent.objects.update(due_at=database_now())
            tracking.poll(Intent.objects.get())
        row, before = door(place, device_id), calls_of_devices(place)
        assert (row.state, row.urgent, row.look_at <= database_now() + timedelta(seconds=10)) == ("passing", True, True)
        place.sandbox.move_clock(place.service.tenant_id, seconds=10)
        with tenant_scope(place.tenant):
            PassController.objects.filter(device_id=device_id).update(look_at=database_now())
            assert status_reading.read_soon() == 1
            assert not status_reading.read_soon()
        assert calls_of_devices(place) == before + 1
        assert (door(place, device_id).state, door(place, device_id).urgent) == ("locked", False)

    def test_a_door_that_flaps_says_at_each_poll_what_the_readings_say(self, one, user):
        shows(one, "D", ago=2)
        for _ in range(15):
            tell(one, DoorEvent.FORCED_OPEN)
            tell(one, DoorEvent.PROBLEM_OVER)
        shows(one, "D")
        assert {all_say(user, one) for _ in range(3)} == {"Locked"}


class TestSinceWhen:
    def test_what_the_first_reading_finds_has_no_time(self, one, user):
        shows(one, "D")
        assert since_of(one) is None
        assert (
            "since" not in user.get(f"/t/{one.tenant.slug}/devices/?view=board").content.decode().partition("<main")[2]
        )

    def test_a_change_between_two_readings_close_to_each_other_has_one(self, one):
        shows(one, "D", ago=60)
        shows(one, "D", door="open")
        assert since_of(one) is not None

    def test_a_change_between_two_readings_far_apart_has_none(self, one):
        shows(one, "D", ago=600)
        shows(one, "D", door="open")
        assert since_of(one) is None

    def test_what_a_record_or_a_command_told_has_its_moment(self, one):
        shows(one, "D", ago=600)
        tell(one, DoorEvent.FORCED_OPEN, ago=30)
        assert since_of(one) is not None


def test_a_key_box_whose_line_the_log_tells_is_lost_is_read_and_shown_offline(place):
    real = place.sandbox.api("GET", "/v1/devices/keys", token=place.service.token).json()["key_devices"][0]
    key_box(place, real["key_device_id"])
    hear(place)
    with tenant_scope(place.tenant):
        while key_tasks.read_due_boxes():
            pass
    where = {"tenant_id": place.service.tenant_id, "device_id": real["key_device_id"]}
    place.sandbox.console("devices", **where, is_connected=False)
    hear(place)
    with tenant_scope(place.tenant):
        assert key_tasks.read_due_boxes() == 1
    assert "1 key box offline" in place.client().get(f"/t/{place.tenant.slug}/keys/").content.decode()
