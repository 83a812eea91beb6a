"""The state of a door in the list, on its page and in banners: which source wins, and what ends a state."""

import re
from datetime import timedelta

import pytest

from accessapi.doors import DoorEvent
from portal.base.timers.clock import database_now
from portal.devices import signals
from portal.domain.alerts.models import Alert
from portal.domain.intents.actions import submit
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.recording import Command
from portal.domain.places import door_states as known
from portal.domain.places.models import PassController
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.doors import calls_of_devices, door, hear, moved, read_due, real_doors, shows
from tests.support.places import fresh_nonce


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D", device_name="倉庫 入口")
    return place


@pytest.fixture
def guard(one):
    return one.client(one.staff("guard"))


def chip_of(client, place, device_id="D"):
    html = client.get(f"/t/{place.tenant.slug}/devices/{device_id}/").content.decode()
    return re.search(r'id="door-state">.*?<span>([^<]*)</span>', html)[1]


def banners_of(client, place):
    html = client.get(f"/t/{place.tenant.slug}/roles/").content.decode()
    return re.findall(r'banner-alarm".*?<strong>([^<]*)</strong>', html, re.DOTALL)


@pytest.mark.parametrize(("reading", "word", "banner"), [
    ({"lock": "lock"}, "Locked", None),
    ({"lock": "unlock"}, "Unlocked", None),
    ({"lock": "lock", "door": "open"}, "Open", None),
    ({"lock": "unlock", "door": "open"}, "Open", None),
    ({"lock": "lock", "door": "open", "errors": ["forced_open"]}, "Forced open", "倉庫 入口 has been forced open."),
    ({"lock": "lock", "door": "open", "errors": ["open_too_long"]}, "Left open", "倉庫 入口 has been left open."),
    ({"errors": ["forced_open"], "cloud_com_status": "lost"}, "Forced open", "倉庫 入口 has been forced open."),
    ({"lock": "lock", "cloud_com_status": "lost"}, "Offline", None),
    ({"lock": "half"}, "Unknown: half", None),
])  # fmt: skip
def test_alarms_and_an_open_leaf_outrank_the_lock(one, guard, reading, word, banner):
    shows(one, "D", **reading)
    assert chip_of(guard, one) == word
    assert banners_of(guard, one) == ([banner] if banner else [])


def test_the_words_of_another_service_are_those_of_its_overrides_file(make):
    place = make(overrides='[states]\nlocked = ["zu"]\nleaf_open = ["auf"]\nforced_open = ["einbruch*"]')
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D")
    client = place.client()
    shows(place, "D", door="auf", lock="zu")
    assert chip_of(client, place) == "Open"
    shows(place, "D", door="auf", lock="zu", errors=["einbruch_2"])
    assert chip_of(client, place) == "Forced open"


@pytest.mark.parametrize("in_label", [False, True], ids=["by its content", "by its member's label"])
def test_a_door_that_the_log_tells_is_forced_is_read_at_once_and_said_on_every_page(place, in_label):
    place.sandbox.settings(place.service.tenant_id, words_in_label=in_label)
    device_id = real_doors(place)[0]
    guard = place.client(place.staff("guard"))
    hear(place)
    while read_due(place):
        pass
    assert banners_of(guard, place) == []
    before = calls_of_devices(place)
    moved(place, device_id, "force")
    hear(place)
    assert banners_of(guard, place) == [f"{door(place, device_id)} has been forced open."]
    assert read_due(place) == 1
    assert calls_of_devices(place) == before + 1
    states = place.tenant.environment.catalogue.states
    assert [states.event_of([each]) for each in door(place, device_id).errors] == [DoorEvent.FORCED_OPEN]
    moved(place, device_id, "close")
    hear(place)
    with tenant_scope(place.tenant):  # an alert may wait for a person, if the rules already ran
        Alert.objects.update(taken_by=place.owner, taken_at=database_now())
    assert banners_of(guard, place) == []


def test_an_alarm_of_the_log_stands_until_a_reading_shows_the_door_shut(one, guard):
    shows(one, "D", ago=300)
    with tenant_scope(one.tenant):
        known.apply_event(one.tenant, "D", DoorEvent.FORCED_OPEN, at=database_now())
    assert chip_of(guard, one) == "Forced open"
    shows(one, "D", door="open")
    assert chip_of(guard, one) == "Forced open"
    shows(one, "D")
    assert chip_of(guard, one) == "Locked"


def test_an_old_record_says_nothing_of_a_door_that_was_seen_shut_since(one, guard):
    shows(one, "D")
    with tenant_scope(one.tenant):
        an_hour_ago = database_now() - known.USUAL_INTERVAL * 4
        assert not known.apply_event(one.tenant, "D", DoorEvent.FORCED_OPEN, at=an_hour_ago)
    assert chip_of(guard, one) == "Locked"


def test_a_hold_made_elsewhere_is_told_after_some_readings_until_one_shows_the_door_locked(one, guard):
    for lock, ago in (("unlock", 900), ("lock", 800), ("unlock", 300), ("unlock", 240)):
        shows(one, "D", lock=lock, ago=ago)
        assert banners_of(guard, one) == []
    shows(one, "D", lock="unlock")
    assert banners_of(guard, one) == ["倉庫 入口 is held unlocked."]
    shows(one, "D", lock="lock")
    assert banners_of(guard, one) == []


def test_the_log_of_a_hold_that_was_ended_since_raises_no_banner(one, guard):
    shows(one, "D", ago=600)
    with tenant_scope(one.tenant):
        began = database_now() - timedelta(minutes=3)
        assert known.apply_event(one.tenant, "D", DoorEvent.HELD_UNLOCKED, at=began)
        assert known.apply_event(one.tenant, "D", DoorEvent.LOCKED)
        assert not known.apply_event(one.tenant, "D", DoorEvent.HELD_UNLOCKED, at=began)
    assert banners_of(guard, one) == []
    shows(one, "D")
    with tenant_scope(one.tenant):
        assert not known.apply_event(one.tenant, "D", DoorEvent.HELD_UNLOCKED, at=began)
    assert banners_of(guard, one) == []


def test_the_log_of_a_hold_says_what_an_unlocked_reading_alone_does_not(one, guard):
    shows(one, "D", lock="unlock")
    assert banners_of(guard, one) == []
    with tenant_scope(one.tenant):
        known.apply_event(one.tenant, "D", DoorEvent.HELD_UNLOCKED, at=database_now() - timedelta(minutes=5))
    assert banners_of(guard, one) == ["倉庫 入口 is held unlocked."]


def test_a_door_that_was_locked_by_command_is_not_held_by_the_next_pass(one, guard):
    for ago in (900, 800):
        shows(one, "D", lock="unlock", ago=ago)
    assert door(one, "D").state == "unlocked"
    with tenant_scope(one.tenant):
        known.apply_event(one.tenant, "D", DoorEvent.LOCKED)
    shows(one, "D", lock="unlock")
    assert banners_of(guard, one) == []


def test_a_record_of_any_command_has_the_door_read_unless_it_was_read_since(place):
    device_id = real_doors(place)[0]
    shows(place, device_id)
    path, body = f"/v1/devices/passes/{device_id}/requests", {"tag": "lock_operation", "control": "unlock"}
    place.sandbox.settings(place.service.tenant_id, device_seconds=0)
    place.sandbox.api("POST", path, body, token=place.service.token, licence=place.service.licence_key)
    shows(place, device_id)
    hear(place)
    assert not door(place, device_id).urgent
    shows(place, device_id)
    with tenant_scope(place.tenant):
        assert not known.request_reading(device_id, unless_read_after=database_now() - timedelta(minutes=1))
        assert known.request_reading(device_id, unless_read_after=database_now() + timedelta(minutes=1))
    assert door(place, device_id).urgent


def command(place, control, **end):
    """Submit a command to the door D, and set these values at its end."""
    with tenant_scope(place.tenant):
        intent = submit(
            Command(
                permission=Permission.DOORS_OPERATE,
                operation="operate_door",
                title=control,
                target="pass_controller:D",
                path={"device_id": "D"},
                body={"tag": "lock_operation", "control": control, "info": ""},
            ),
            by=place.asker,
            nonce=fresh_nonce(),
            inline=False,
        )
        Intent.objects.filter(pk=intent.pk).update(due_at=None, **end)
        intent.refresh_from_db()
        return intent


def test_a_hold_from_here_is_told_at_once_and_outlives_a_day(one, guard):
    shows(one, "D", ago=100_000)
    with tenant_scope(one.tenant):
        signals.on_command_finished(command(one, "cont_unlock", state=State.SUCCEEDED))
    assert banners_of(guard, one) == ["倉庫 入口 is held unlocked."]
    with tenant_scope(one.tenant):
        Intent.objects.update(created_at="2026-01-01T00:00:00Z", finished_at="2026-01-01T00:00:00Z")
    shows(one, "D", lock="unlock")
    assert banners_of(guard, one) == ["倉庫 入口 is held unlocked."]
    with tenant_scope(one.tenant):
        signals.on_command_finished(command(one, "lock", state=State.SUCCEEDED))
    assert banners_of(guard, one) == []
    assert chip_of(guard, one) == "Locked"


@pytest.fixture
def lost(place):
    """Send a command to a real door; its answer is lost, but the service carries it out."""

    def lose(control):
        device_id = real_doors(place)[0]
        place.sandbox.settings(place.service.tenant_id, device_seconds=0)
        body = {"tag": "lock_operation", "control": control, "info": ""}
        path = f"/v1/devices/passes/{device_id}/requests"
        service = place.service
        place.sandbox.api("POST", path, body, token=service.token, licence=service.licence_key)
        with tenant_scope(place.tenant):
            intent = command(place, control, state=State.UNCERTAIN, reason=Reason.LOST)
            Intent.objects.filter(pk=intent.pk).update(path={"device_id": device_id}, due_at=database_now())
            intent.refresh_from_db()
        return device_id, intent

    return lose


def test_an_uncertain_hold_that_reading_shows_as_unlocked_is_said_on_every_page(place, lost):
    device_id, intent = lost("cont_unlock")
    with tenant_scope(place.tenant):
        finding = signals.find_outcome(intent)
    assert place.tenant.environment.catalogue.states.lock_state(finding.evidence["lock"]) == "unlocked"
    assert banners_of(place.client(), place) == [f"{door(place, device_id)} is held unlocked."]


@pytest.mark.parametrize("words", ["", '[states]\nlocked = ["lock*"]', '[states]\nlocked = ["zu"]'])
def test_a_lost_lock_that_reading_shows_in_the_services_word_for_locked_is_done(make, words):
    place = make(overrides=words)
    device_id = real_doors(place)[0]
    intent = command(place, "lock", state=State.UNCERTAIN, reason=Reason.LOST)
    intent.path = {"device_id": device_id}
    with tenant_scope(place.tenant):
        assert signals.find_outcome(intent).applied is (None if "zu" in words else True)


def test_after_a_doors_time_out_nothing_is_said_to_be_unchanged(one):
    intent = command(one, "unlock", state=State.FAILED, reason=Reason.REQUEST_FAILED, error_detail="timeout")
    html = one.client().get(f"/t/{one.tenant.slug}/devices/D/").content.decode()
    assert "Nothing was changed at the service" not in html
    assert "The door may have opened." in html
    assert "timeout" in html
    with tenant_scope(one.tenant):
        signals.on_command_finished(intent)
    assert door(one, "D").urgent


def test_of_many_loud_doors_the_worst_are_named_and_the_others_counted(one, guard):
    with tenant_scope(one.tenant):
        PassController.objects.bulk_create(PassController(device_id=f"D{n}", device_name=f"扉{n}") for n in range(6))
    for n in range(6):
        shows(one, f"D{n}", door="open", errors=["open_too_long"])
    shows(one, "D", door="open", errors=["forced_open"])
    assert banners_of(guard, one) == [
        "倉庫 入口 has been forced open.",
        "扉0 has been left open.", "扉1 has been left open.", "扉2 has been left open.",
        "3 more doors need attention.",
    ]  # fmt: skip


def test_alarms_are_read_beyond_the_share_of_the_watch_but_never_from_the_doors_own(place):
    device_id = real_doors(place)[0]
    limits = {"general": 720, "device": 10}
    place.tenant.environment.overrides = "[limits]\n" + "\n".join(f"{k} = {v}" for k, v in limits.items())
    place.tenant.environment.save()
    place.sandbox.settings(place.service.tenant_id, device_limit=10)
    assert read_due(place) == 2
    read = 0
    for _ in range(12):
        with tenant_scope(place.tenant):
            known.request_reading(device_id)
        read += read_due(place)
    assert 2 + read == 8
