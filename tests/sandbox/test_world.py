"""People at doors and key boxes: what they show, what the tenant's rules decide, and what is recorded."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accessapi.limits import JST
from accessapi.permissions import AreaPlace, Holidays, KeyPlace, decide
from accessapi.resources.members import Member
from accessapi.resources.tenants import HolidaySettings
from tests.support.effort import examples
from tests.support.sandbox_building import NOTHING, House, wire


def test_a_card_opens_the_door_for_a_while_and_is_written_down(house: House) -> None:
    member_id = house.member(card_data="CARD1")
    told = house.show("card", "CARD1")
    assert (told["admitted"], told["rule"]) == (True, "everywhere")
    assert told["person"] == {"id": member_id, "name": "山田 花子"}
    assert (house.status()["door"], house.status()["lock"]) == ("open", "unlock")
    record = house.last()
    assert record["history_id"] == told["history"]["history_id"]
    assert (record["status"], record["category"], record["_content"]) == ("occur", "normal", "Entry")
    assert record["member"]["id"] == member_id
    assert (record["member"]["_type"], record["member"]["data"]) == ("member", "CARD1")
    assert record["device"]["id"] == house.door
    house.move(seconds=5)
    assert house.status() == {"door": "close", "lock": "lock", "errors": []}


def test_an_unknown_card_is_suspicious_and_its_data_is_kept(house: House) -> None:
    told = house.show("card", "FOUND-IN-THE-STREET")
    assert (told["admitted"], told["rule"], told["person"]) == (False, "unknown_card", None)
    record = house.last()
    assert record["category"] == "suspicious"
    assert record["member"]["data"] == "FOUND-IN-THE-STREET"
    assert record["member"]["id"] == ""
    assert house.status()["door"] == "close"


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"devices_pass": NOTHING}, "nowhere"),
        ({"use_date_end": "2020-01-01T00:00:00+09:00"}, "after_use"),
        ({"use_date_start": "2090-01-01T00:00:00+09:00"}, "before_use"),
    ],
)
def test_whoever_may_not_enter_is_refused_with_the_reason(house: House, fields: dict[str, Any], rule: str) -> None:
    house.member(card_data="CARD1", **fields)
    told = house.show("card", "CARD1")
    assert (told["admitted"], told["rule"]) == (False, rule)
    record = house.last()
    assert record["category"] == "warning"
    assert record["_content"] == told["reason"]
    assert house.status()["door"] == "close"


def test_a_static_code_opens_and_the_bare_data_of_a_one_time_code_does_not(house: House) -> None:
    house.member(qrcode={"data": "STATIC"})
    one_time = house.member(qrcode={"data": "BARE", "one_time_qr": {"enabled": True, "timestep": 60, "skew": 0}})
    assert house.show("qr", "STATIC")["admitted"] is True
    assert house.show("qr", "BARE")["rule"] == "one_time_needed"
    code = house.call("POST", f"/v1/members/{one_time}/one_time_qr")["one_time_qr_data"]
    # The same code again, within its window: it is shown at every door on the way.
    assert [house.show(kind, code)["admitted"] for kind in ("one_time", "qr", "one_time")] == [True] * 3
    assert house.last()["member"]["data"] == "BARE"
    house.move(seconds=61)
    assert house.show("one_time", code)["rule"] == "code_wrong"
    assert house.last()["category"] == "suspicious"
    assert house.last()["member"]["id"] == one_time


def test_skew_lets_the_codes_of_neighbouring_windows_in(house: House) -> None:
    member = house.member(qrcode={"data": "BARE", "one_time_qr": {"enabled": True, "timestep": 60, "skew": 1}})
    code = house.call("POST", f"/v1/members/{member}/one_time_qr")["one_time_qr_data"]
    house.move(seconds=60)
    assert house.show("one_time", code)["admitted"] is True
    house.move(seconds=61)
    assert house.show("one_time", code)["admitted"] is False


def test_a_face_is_known_thirty_seconds_after_it_was_registered(house: House) -> None:
    member = house.member()
    house.sandbox.settings(house.tenant.tenant_id, face_seconds=0)
    image = b"\xff\xd8\xff\xe0" + member.encode() + b"\xff\xd9"
    house.call("PUT", f"/v1/members/{member}/face_image", content=image, headers={"Content-Type": "image/jpeg"})
    assert house.show("face", member)["rule"] == "face_not_ready"
    house.move(seconds=30)
    assert house.show("face", member)["admitted"] is True
    assert house.show("face", house.member())["rule"] == "unknown_face"


def test_a_guest_enters_the_named_areas_within_the_period(house: House) -> None:
    now = house.now()
    period = {"use_date_start": wire(now - timedelta(hours=1)), "use_date_end": wire(now + timedelta(hours=1))}
    house.guest("GUEST", area_id_list=[house.areas[0]["area_id"]], **period)
    elsewhere = house.areas[1]["devices_list"][0]["device_id"]
    assert house.show("qr", "GUEST")["admitted"] is True
    assert house.last()["member"]["_type"] == "guest"
    assert house.show("qr", "GUEST", door=elsewhere)["rule"] == "not_listed"
    house.move(seconds=3700)
    assert house.show("qr", "GUEST")["rule"] == "after_use"


def test_without_power_nobody_enters_and_nothing_is_written(house: House) -> None:
    house.member(card_data="CARD1")
    house.sandbox.console("devices", tenant_id=house.tenant.tenant_id, device_id=house.door, has_power=False)
    assert (house.last()["category"], house.last()["status"]) == ("error", "occur")
    told = house.show("card", "CARD1")
    assert (told["admitted"], told["rule"], told["history"]) == (False, "no_power", None)
    house.sandbox.console("devices", tenant_id=house.tenant.tenant_id, device_id=house.door, has_power=True)
    assert (house.last()["category"], house.last()["status"]) == ("error", "restore")
    assert house.show("card", "CARD1")["admitted"] is True


def test_without_connection_the_door_decides_and_tells_later(house: House) -> None:
    house.member(card_data="CARD1")
    house.sandbox.console("devices", tenant_id=house.tenant.tenant_id, device_id=house.door, is_connected=False)
    told = house.show("card", "CARD1")
    assert told["admitted"] is True
    assert told["history"]["held_by"] == house.door
    known = [record["history_id"] for record in house.histories()]
    assert told["history"]["history_id"] not in known
    house.move(seconds=60)
    house.sandbox.console("devices", tenant_id=house.tenant.tenant_id, device_id=house.door, is_connected=True)
    later = house.histories()
    (record,) = [record for record in later if record["history_id"] == told["history"]["history_id"]]
    assert record["datetime"] == told["history"]["datetime"]
    assert later[0]["status"] == "restore"


def test_a_forced_door_stays_open_until_somebody_shuts_it(house: House) -> None:
    def move(action: str) -> dict[str, Any]:
        return house.sandbox.console("doors", tenant_id=house.tenant.tenant_id, device_id=house.door, action=action)

    move("force")
    assert house.status() == {"door": "open", "lock": "lock", "errors": ["forced_open"]}
    assert (house.last()["category"], house.last()["status"]) == ("emergency", "occur")
    house.move(seconds=3600)
    assert house.status()["door"] == "open"
    move("close")
    assert house.status() == {"door": "close", "lock": "lock", "errors": []}
    assert (house.last()["category"], house.last()["status"]) == ("emergency", "restore")
    move("hold")
    assert house.status()["errors"] == ["open_too_long"]
    move("close")
    assert (house.last()["category"], house.last()["status"]) == ("warning", "restore")
    assert move("close")["history"] is None


def test_a_key_is_taken_and_returned(house: House) -> None:
    member = house.member(card_data="CARD1")
    unit = house.free_key()
    assert house.key("take", unit, "CARD1")["admitted"] is True
    assert house.keys()[unit] == "taken"
    record = house.last()
    assert record["_content"] == "Key taken"
    assert [one["unit_no"] for one in record["device"]["units"]] == [unit]
    assert house.key("take", unit, "CARD1")["rule"] == "key_out"
    assert house.key("return", unit, "CARD1")["admitted"] is True
    assert house.keys()[unit] == "return"
    assert (house.last()["_content"], house.last()["member"]["id"]) == ("Key returned", member)
    assert house.key("return", unit, "CARD1")["rule"] == "key_in"


def test_another_key_is_put_in_the_place_of_one_that_is_out(house: House) -> None:
    house.member(card_data="CARD1")
    unit, states = house.free_key(), house.sandbox.addresses.catalogue.states
    assert house.key("replace", unit, "CARD1")["rule"] == "key_in"
    house.key("take", unit, "CARD1")
    assert house.key("replace", unit, "CARD1")["admitted"] is True
    (found,) = [one for one in house.units() if one["unit_no"] == unit]
    assert (states.is_wrong_key([found["key"]]), states.is_wrong_key(found["errors"])) == (True, True)
    assert states.is_wrong_key([house.last()["_content"]])
    assert house.key("replace", unit, "CARD1")["rule"] == "key_replaced"
    assert house.key("return", unit, "CARD1")["admitted"] is True
    (found,) = [one for one in house.units() if one["unit_no"] == unit]
    assert (states.key_state(found["key"]), found["errors"]) == ("in", [])
    over, back = house.histories(limit=2)[::-1]
    assert (states.is_wrong_key([over["_content"]]), states.is_over(over["status"])) == (True, True)
    assert states.key_event_of([back["_content"]]) == "returned"


def test_of_many_hands_one_takes_the_key(house: House) -> None:
    house.member(card_data="CARD1")
    unit = house.free_key()
    with ThreadPoolExecutor(8) as hands:
        told = list(hands.map(lambda _: house.key("take", unit, "CARD1"), range(8)))
        assert sorted(one["rule"] for one in told) == ["everywhere", *["key_out"] * 7]
        told = list(hands.map(lambda _: house.key("return", unit, "CARD1"), range(8)))
        assert sorted(one["rule"] for one in told) == [*["key_in"] * 7, "return"]
    assert [one["_content"] for one in house.histories(limit=2)] == ["Key returned", "Key taken"]


def test_a_key_returns_by_itself_when_its_time_is_over(house: House) -> None:
    member = house.member(card_data="CARD1")
    unit = house.free_key()
    taken = house.key("take", unit, "CARD1")["history"]["datetime"]
    house.move(seconds=8 * 3600 - 60)
    assert house.keys()[unit] == "taken"
    house.move(seconds=120)
    assert house.keys()[unit] == "return"
    record = house.last()
    assert (record["_content"], record["member"]["id"]) == ("Key returned", member)
    assert record["datetime"] == wire(datetime.fromisoformat(taken) + timedelta(hours=8))
    assert house.key("take", unit, "CARD1")["admitted"] is True


def test_restricted_keys_need_the_privilege_or_temporary_use(house: House) -> None:
    box = house.get("/v1/devices/keys")["key_devices"][0]
    (restricted,) = [unit["unit_no"] for unit in box["units"] if unit["restriction"]]
    if house.keys()[restricted] == "taken":
        house.member(card_data="CLEANER")
        assert house.key("return", restricted, "CLEANER")["admitted"] is True
    plain = house.member(card_data="PLAIN")
    house.member(card_data="TRUSTED", privilege={"restricted_keys_enabled": True})
    assert house.key("take", restricted, "PLAIN")["rule"] == "restricted"
    assert house.key("take", restricted, "TRUSTED")["admitted"] is True
    assert house.key("return", restricted, "TRUSTED")["admitted"] is True
    targets = [{"device_id": house.box, "unit_no_list": [restricted]}]
    house.call("PUT", f"/v1/members/{plain}/temporary_use", {"target": "key", "timer": 600, "targets_list": targets})
    assert house.key("take", restricted, "PLAIN")["rule"] == "temporary_use"


def test_keys_need_a_second_factor_without_the_privilege(house: House) -> None:
    house.member(card_data="PLAIN")
    house.member(card_data="TRUSTED", privilege={"keys_without_2fa": True})
    unit = house.free_key()
    assert house.key("take", unit, "PLAIN", second_factor=False)["rule"] == "second_factor"
    assert house.key("take", unit, "TRUSTED", second_factor=False)["admitted"] is True


def test_a_guest_may_return_but_not_take_a_key_in_the_grace_period(house: House) -> None:
    now = house.now()
    unit, other = house.free_key(), next(no for no, state in reversed(house.keys().items()) if state == "return")
    keys = [{"key_device_id": house.box, "units_no_list": [unit, other]}]
    period = {"use_date_start": wire(now - timedelta(hours=1)), "use_date_end": wire(now + timedelta(hours=1))}
    house.guest("GUEST", key_devices_list=keys, return_grace_period=60, **period)
    assert house.key("take", unit, "GUEST", kind="qr")["admitted"] is True
    house.move(seconds=3700)
    assert house.key("take", other, "GUEST", kind="qr")["rule"] == "after_use"
    assert house.key("return", unit, "GUEST", kind="qr")["admitted"] is True
    house.member(card_data="STAFF")
    house.key("take", unit, "STAFF")
    house.move(seconds=3600)
    assert house.key("return", unit, "GUEST", kind="qr")["rule"] == "after_use"


def test_a_box_without_keys_for_guests_gives_them_none(house: House) -> None:
    now = house.now()
    unit = house.free_key()
    keys = [{"key_device_id": house.box, "units_no_list": [unit]}]
    period = {"use_date_start": wire(now - timedelta(hours=1)), "use_date_end": wire(now + timedelta(hours=1))}
    house.guest("GUEST", key_devices_list=keys, **period)
    house.sandbox.console("devices", tenant_id=house.tenant.tenant_id, device_id=house.box, guest_keys_enabled=False)
    assert house.key("take", unit, "GUEST", kind="qr")["rule"] == "guest_keys_off"


def test_people_are_found_with_what_they_can_show(house: House) -> None:
    house.member(member_name="Zacharias Quill", card_data="CARD9", qrcode={"data": "Z"})
    found = house.sandbox.look("people", tenant_id=house.tenant.tenant_id, search="quill")["people"]
    assert [person["name"] for person in found] == ["Zacharias Quill"]
    shown = [(one["kind"], one["value"]) for one in found[0]["credentials"]]
    assert shown == [("card", "CARD9"), ("qr", "Z")]


@pytest.mark.parametrize(
    ("what", "body", "status"),
    [
        ("present", {"device_id": "nowhere", "kind": "card", "value": "x"}, 404),
        ("present", {"device_id": "nowhere", "kind": "voice", "value": "x"}, 400),
        ("present", {"device_id": "nowhere", "kind": "card", "value": "\0"}, 400),
        ("present", {"device_id": "x", "kind": "card", "value": "x", "at": "9999-12-31T23:59:59Z"}, 400),
        ("keys", {"key_device_id": "x", "unit_no": "01", "action": "take", "kind": "card", "value": "x"}, 404),
        ("keys", {"key_device_id": "x", "unit_no": "1", "action": "take", "kind": "card", "value": "x"}, 400),
        ("doors", {"device_id": "x", "action": "burn"}, 400),
        ("doors", {"device_id": "x", "action": "force"}, 404),
    ],
)
def test_what_cannot_be_done_is_refused_in_json(house: House, what: str, body: dict[str, Any], status: int) -> None:
    answer = house.sandbox.api("POST", f"/console/api/{what}", body | {"tenant_id": house.tenant.tenant_id})
    assert answer.status_code == status
    assert len(answer.json()["error_code"]) == 5


# By the same algebra

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Holiday"]
hours = st.integers(0, 23)
weeks = st.lists(st.sampled_from(DAYS), min_size=1, max_size=4, unique=True) | st.just(["*"])
_FIRST = datetime(2026, 10, 25, tzinfo=JST)
#: Eighty days with every kind of holiday among them.
moments = st.integers(0, 80 * 86400).map(lambda seconds: _FIRST + timedelta(seconds=seconds))


def edge(moment: datetime) -> dict[str, str]:
    return {"date": f"{moment:%Y-%m-%d}", "time": f"{moment:%H:%M:%S}+09:00"}


weekly = st.builds(
    lambda start, end, week: {
        "mode": "weekly",
        "start": {"time": f"{start:02}:00:00+09:00"},
        "end": {"time": f"{end:02}:59:59+09:00"},
        "week": week,
    },
    hours,
    hours,
    weeks,
)
ranges = st.builds(lambda start, end: {"mode": "range", "start": edge(start), "end": edge(end)}, moments, moments)
modes = st.sampled_from(["option", "option", "option", "allow_all", "deny_all"])
passes = st.sampled_from([{"effect": "allow_all"}, {"effect": "deny_all"}]) | st.builds(
    lambda schedule: {"effect": "allow", "schedule": schedule}, st.lists(weekly | ranges, max_size=3)
)


class Watched:
    """A tenant long after all the tested moments, so that every key is returned, and a member whose rights change."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.member_id = house.member(card_data="CARD1", privilege={"restricted_keys_enabled": True})
        settings = house.get("/v1/tenant")["settings"]["holiday"]
        self.holidays = Holidays.from_settings(HolidaySettings.model_validate(settings))
        self.unit = house.free_key()
        house.sandbox.settings(house.tenant.tenant_id, keys_return_seconds=0)
        house.move(at="2027-02-01T00:00:00+09:00")

    def draw(self, data: st.DataObject) -> Member:
        """Give the member other rights. Return the member as the service then shows them."""
        period = sorted([data.draw(moments), data.draw(moments)]) if data.draw(st.booleans()) else [None, None]
        areas = [{"area_id": area["area_id"], "pass": data.draw(passes)} for area in self.house.areas[:2]]
        units = [{"unit_no": self.unit, "pass": data.draw(passes)}]
        boxes = [{"key_device_id": self.house.box, "default_mode": data.draw(modes), "units": units}]
        rights = {
            "devices_pass": {"default_mode": data.draw(modes), "areas_list": data.draw(st.sampled_from([areas, []]))},
            "keys_pass": {"default_mode": data.draw(modes), "key_devices_list": boxes},
            "use_date_start": period[0] and wire(period[0]),
            "use_date_end": period[1] and wire(period[1]),
        }
        self.house.call("PUT", f"/v1/members/{self.member_id}", rights)
        return Member.model_validate(self.house.get(f"/v1/members/{self.member_id}"))


@pytest.fixture
def watched(house: House) -> Watched:
    return Watched(house)


@settings(max_examples=examples(40, quick=10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_people_pass_exactly_when_the_algebra_says_so(watched: Watched, data: st.DataObject) -> None:
    member, house = watched.draw(data), watched.house
    for at in data.draw(st.lists(moments, min_size=2, max_size=3)):
        wanted = decide(member, AreaPlace(house.areas[0]["area_id"]), at, watched.holidays)
        told = house.show("card", "CARD1", at=at.isoformat())
        assert (told["admitted"], told["rule"]) == (wanted.allowed, wanted.rule.value)
        wanted = decide(member, KeyPlace(house.box, watched.unit), at, watched.holidays)
        told = house.key("take", watched.unit, "CARD1", at=at.isoformat())
        assert (told["admitted"], told["rule"]) == (wanted.allowed, wanted.rule.value)
