"""Operations 24 to 28: reading areas, door controllers and key boxes."""

import re

from tests.contract.lab import UNKNOWN_ID, UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, NotTried, Outcome
from tests.contract.registry import case
from tests.contract.shapes import Json, kind

#: How many devices' statuses are read: some may not be reachable and report less.
_TRIES = 3
_UNIT = re.compile(r"[0-9]{2}", re.ASCII)


def _stranger(house: House, name: str) -> None:
    house.refused(name, "an unknown access token", token=UNKNOWN_TOKEN, worded=False)


@case("list_areas", "shows each area with its name, kind and devices")
def lists_areas(house: House) -> None:
    for area in house.areas():
        for number, device in enumerate(area["devices_list"]):
            for name in ("device_id", "in_out"):
                if device.get(name) is None:
                    raise Differs("list_areas", f"devices_list[{number}].{name}: expected a string, got nothing")


@case("list_areas", "answers no one without a known access token", refusal=True)
def refuses_areas(house: House) -> None:
    _stranger(house, "list_areas")


@case("list_pass_controllers", "answers with a list of pass controllers")
def lists_doors(house: House) -> None:
    try:
        house.doors()
    except Outcome as outcome:
        if outcome.operation == "list_pass_controllers":
            raise


@case("list_pass_controllers", "answers no one without a known access token", refusal=True)
def refuses_doors(house: House) -> None:
    _stranger(house, "list_pass_controllers")


def _statuses(house: House, name: str, parameter: str, identifiers: list[str], wanted: tuple[str, ...]) -> list[Json]:
    """Read statuses until one has all fields of `wanted` (dotted). Raises Differs when none has."""
    found: list[Json] = []
    for identifier in identifiers[:_TRIES]:
        status = house.call(name, path={parameter: identifier})
        if status[parameter] != identifier:
            raise Differs(name, f"{parameter}: expected {identifier!r}, got {status[parameter]!r}")
        found.append(status)
        if all(_at(status, each) is not None for each in wanted):
            return found
    missing = next(each for each in wanted if all(_at(status, each) is None for status in found))
    raise Differs(name, f"{missing} is missing in the status of {len(found)} devices")


def _at(value: object, dotted: str) -> object:
    for name in dotted.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


_POWERED = ("power_status", "cloud_com_status", "sync_status")
_DOOR = ("door_status.door", "door_status.lock", "door_status.errors")


@case("pass_controller_status", "shows door, lock, errors, power, communication and synchronisation")
def shows_doors(house: House) -> None:
    if not house.doors():
        raise NotTried("pass_controller_status", "the tenant has no pass controller")
    _statuses(house, "pass_controller_status", "device_id", house.doors(), ("device_name", *_DOOR, *_POWERED))


@case("pass_controller_status", "refuses unknown devices and unknown access tokens", refusal=True)
def refuses_door_status(house: House) -> None:
    house.refused("pass_controller_status", "an unknown device_id", path={"device_id": UNKNOWN_ID})
    known = {"device_id": house.doors()[0]}
    house.refused("pass_controller_status", "an unknown access token", path=known, token=UNKNOWN_TOKEN, worded=False)


def _check_numbers(name: str, units: list[Json]) -> None:
    for unit in units:
        number = unit.get("unit_no")
        if not isinstance(number, str) or not _UNIT.fullmatch(number):
            raise Differs(name, f"unit_no: expected a string of two digits, got {kind(number)}")


@case("list_key_boxes", "shows each key box with its type and its numbered units")
def lists_boxes(house: House) -> None:
    units = [unit for box in house.key_boxes() for unit in box["units"]]
    for unit in units:
        if not isinstance(unit.get("unit_no"), str) or not _UNIT.fullmatch(unit["unit_no"]):
            raise Differs(
                "list_key_boxes", f"unit_no: expected a string of two digits, got {kind(unit.get('unit_no'))}"
            )
    for name in ("unit_name", "restriction"):
        if units and all(unit.get(name) is None for unit in units):
            raise Differs("list_key_boxes", f"{name} is missing in every unit")


@case("list_key_boxes", "answers no one without a known access token", refusal=True)
def refuses_boxes(house: House) -> None:
    _stranger(house, "list_key_boxes")


@case("key_box_status", "shows the box and, for each unit, door, key, lock and errors")
def shows_boxes(house: House) -> None:
    name = "key_box_status"
    boxes = [box["key_device_id"] for box in house.key_boxes()]
    if not boxes:
        raise NotTried(name, "the tenant has no key box")
    statuses = _statuses(house, name, "key_device_id", boxes, (*_DOOR, *_POWERED, "units_status"))
    units = [unit for status in statuses for unit in status.get("units_status") or []]
    _check_numbers(name, units)
    for field in ("door", "key", "lock", "errors"):
        if units and all(unit.get(field) is None for unit in units):
            raise Differs(name, f"units_status: {field} is missing in every unit")


@case("key_box_status", "refuses unknown key boxes and unknown access tokens", refusal=True)
def refuses_box_status(house: House) -> None:
    house.refused("key_box_status", "an unknown key_device_id", path={"key_device_id": UNKNOWN_ID})
    known = {"key_device_id": house.key_boxes()[0]["key_device_id"]}
    house.refused("key_box_status", "an unknown access token", path=known, token=UNKNOWN_TOKEN, worded=False)
