"""Areas, door controllers and key boxes, and operating them: operations 11, 24 to 28, 35 and 36."""

from __future__ import annotations

import re
from typing import Any

from tests.support.second_service.answers import Call, Json, Refusal, route
from tests.support.second_service.checks import Body, invalid
from tests.support.second_service.people import find, gone
from tests.support.second_service.requests import Device, submit

_CONTROLS = ("unlock", "lock", "cont_unlock", "in_unlock", "out_unlock")


@route(11, "PUT", "/v1/members/{member_id}/temporary_use", "members:write", contract="key_box")
def temporary_use(call: Call) -> Json:
    member = find(call)
    body = Body(call, call.json)
    body.one_of("target", ["key"], required=True)
    body.number("timer", 0, 86400, required=True)
    body.flag("device_action")
    body.text("info", 100)
    sent = []
    for item in body.items("targets_list", 100) or []:
        box = Body(call, item, "a target")
        id_ = box.one_of("device_id", list(call.house.boxes), required=True)
        units = box.items("unit_no_list", 100, lambda no: isinstance(no, str) and bool(re.fullmatch("[0-9]{2}", no)))
        box.end()
        if call.has("temporary_without_permission") or all(_may_take(member, id_, no) for no in units or []):
            sent.append(id_)
    body.end()
    if not call.world.choices.lends_keys:
        raise Refusal(403, 40371, "temporary use is off at these boxes")
    return {"sent_device_id_list": sent}


def _may_take(member: Json, box: str, unit: str) -> bool:
    """Check whether the member's rights allow the key at some time."""
    rights = member["keys_pass"]
    if rights["default_mode"] != "option":
        return bool(rights["default_mode"] == "allow_all")
    listed: Json = next((each for each in rights["key_devices_list"] if each["key_device_id"] == box), {})
    if listed.get("default_mode") != "option":
        return listed.get("default_mode") == "allow_all"
    return any(each["unit_no"] == unit and each["pass"]["effect"] != "deny_all" for each in listed["units"])


@route(24, "GET", "/v1/areas", "areas:read")
def areas(call: Call) -> Json:
    return {"areas": [dict(area) for area in call.house.areas] if "door" in call.house.contracts else []}


@route(25, "GET", "/v1/devices/passes", "devices:read")
def controllers(call: Call) -> Json:
    """Return the door controllers. The specification does not show their fields: here they have other names."""
    shown = call.house.controllers.items() if "door" in call.house.contracts else ()
    return {"controllers": [{"id": id_, "label": name} for id_, name in shown]}


@route(26, "GET", "/v1/devices/passes/{device_id}/status", "devices:read", contract="door", slow=True)
def controller_status(call: Call) -> Json:
    id_ = call.path["device_id"]
    if id_ not in call.house.controllers and not call.has("door_unknown_shown"):
        raise gone("controller")
    if id_ == next(iter(call.house.controllers)):  # not reachable, so it reports little
        return {"device_id": id_, "device_name": call.house.controllers[id_], "door_status": None, **_power()}
    status = {"door": "ajar", "lock": "half", "errors": ["unlock_error", "E-17"]}
    return {"device_id": id_, "device_name": call.house.controllers.get(id_), "door_status": status, **_power()}


@route(27, "GET", "/v1/devices/keys", "devices:read", contract="key_box")
def boxes(call: Call) -> Json:
    return {"key_devices": list(call.house.boxes.values())}


@route(28, "GET", "/v1/devices/devices/keys/{key_device_id}/status", "devices:read", contract="key_box", slow=True)
def box_status(call: Call) -> Json:
    box = call.house.boxes.get(call.path["key_device_id"])
    if box is None:
        raise gone("key box")
    unit = {"door": "shut", "key": "elsewhere", "lock": "on", "errors": []}
    units = [{"unit_no": each["unit_no"], **unit} for each in box["units"]]
    status = {"door": "shut", "lock": "on", "errors": []}
    return {
        "key_device_id": box["key_device_id"],
        "key_device_name": box["key_device_name"],
        "product_type": box["product_type"],
        "door_status": status,
        "units_status": units,
        **_power(),
    }


def _power() -> Json:
    return {"power_status": "on battery", "cloud_com_status": "so-so", "sync_status": "同期"}


@route(35, "PUT", "/v1/devices/passes/{device_id}/lock", licence=True, slow=True)
def operate_door(call: Call) -> Json:
    body = _order(call, _CONTROLS)
    body.end()
    return _operate(call, call.path["device_id"], call.house.controllers)


@route(36, "PUT", "/v1/devices/keys/{key_device_id}/lock", licence=True, slow=True)
def operate_keys(call: Call) -> Json:
    body = _order(call, ("unlock", "lock"))

    def fits(no: Any) -> bool:
        return isinstance(no, str) and bool(re.fullmatch("[0-9]{2}", no))

    targets = body.items("targets", call.most(30, "keys_targets_of_30_refused"), fits, required=True)
    if len(set(targets)) < len(targets) and not call.unchecked("targets"):
        raise invalid("a key is named twice")
    body.end()
    return _operate(call, call.path["key_device_id"], call.house.boxes)


def _order(call: Call, controls: tuple[str, ...]) -> Body:
    body = Body(call, call.json)
    body.one_of("tag", ["lock_operation"], required=True)
    body.one_of("control", controls, required=True)
    body.text("info", 100)
    return body


def _operate(call: Call, id_: str, known: Any) -> Json:
    kind = "door" if call.number == 35 else "keys"
    mocks = {"mock_succeeded": ("done", 0.0), "mock_succeeded_5": ("done_in_time", 5.0)}
    mocks["mock_timeout"] = ("refused", 0.02)
    if call.has(f"{kind}_mock_timeout_succeeds"):
        mocks["mock_timeout"] = ("done", 0.02)
    if call.has(f"{kind}_mock_fails"):
        mocks["mock_succeeded"] = ("refused", 0.0)
    if call.has(f"{kind}_mock_five_too_soon"):
        mocks["mock_succeeded_5"] = ("done", 0.1)
    if id_ in mocks:
        return submit(call, Device(*mocks[id_]))
    if id_ not in known:
        raise gone("device")
    call.world.opened.append(id_)
    raise Refusal(409, 40988, "a real device was told to move")
