"""Permissions for doors and keys: which ones are accepted, and how they are shown, with every default included."""

from __future__ import annotations

import re
from typing import Any

from tests.support.second_service.answers import Call, Json
from tests.support.second_service.checks import Body, invalid

_TIME = re.compile(r"\d\d:\d\d:\d\d\+09:00")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Holiday")
_MODES = ("allow_all", "deny_all", "option")


def devices_pass(call: Call, data: Any) -> Json:
    body = Body(call, data, "devices_pass")
    mode = body.one_of("default_mode", _MODES, required=True)
    areas = [_area(call, item) for item in body.items("areas_list", 1000) or []]
    body.end()
    return {"default_mode": mode, "areas_list": sorted(areas, key=lambda area: str(area["area_id"]))}


def _area(call: Call, data: Any) -> Json:
    body = Body(call, data, "an area")
    known = [area["area_id"] for area in call.house.areas]
    area = {"area_id": body.one_of("area_id", known, required=True)}
    area["pass"] = _pass(call, body.take("pass", lambda value: True, required=True))
    body.end()
    return area


def keys_pass(call: Call, data: Any) -> Json:
    body = Body(call, data, "keys_pass")
    mode = body.one_of("default_mode", _MODES, required=True)
    boxes = [_box(call, item) for item in body.items("key_devices_list", 1000) or []]
    body.end()
    return {"default_mode": mode, "key_devices_list": boxes}


def _box(call: Call, data: Any) -> Json:
    body = Body(call, data, "a key box")
    id_ = body.one_of("key_device_id", list(call.house.boxes), required=True)
    mode = body.one_of("default_mode", _MODES, required=True)
    units = [_unit(call, item) for item in body.items("units", 100) or []]
    body.end()
    return {"key_device_id": id_, "default_mode": mode, "units": units}


def _unit(call: Call, data: Any) -> Json:
    body = Body(call, data, "a key")
    no = body.take("unit_no", lambda value: isinstance(value, str) and bool(re.fullmatch("[0-9]{2}", value)))
    unit = {"unit_no": no, "pass": _pass(call, body.take("pass", lambda value: True, required=True))}
    body.end()
    return unit


def _pass(call: Call, data: Any) -> Json:
    body = Body(call, data, "pass")
    effect = body.text("effect", required=True)
    if effect not in ("allow_all", "deny_all", "allow") and not call.has("member_effect_unknown"):
        raise invalid("there is no such effect")
    schedule = [_item(call, item) for item in body.items("schedule", 1000) or []]
    body.end()
    return {"effect": effect, "schedule": schedule}


def _item(call: Call, data: Any) -> Json:
    body = Body(call, data, "a schedule item")
    item: Json = {"mode": body.one_of("mode", ("weekly", "range"), required=True)}
    for name in ("start", "end"):
        item[name] = _edge(call, body.take(name, lambda value: True, required=True), dated=item["mode"] == "range")
    if item["mode"] == "weekly":
        item["week"] = body.take("week", _is_week, required=True)
    body.end()
    return item


def _is_week(value: Any) -> bool:
    return value in ("*", ["*"]) or (isinstance(value, list) and all(day in _WEEK for day in value))


def _edge(call: Call, data: Any, *, dated: bool) -> Json:
    body = Body(call, data, "start or end")
    edge = {"time": body.take("time", lambda value: isinstance(value, str) and bool(_TIME.fullmatch(value)))}
    if dated:
        edge["date"] = body.take("date", lambda value: isinstance(value, str) and bool(_DATE.fullmatch(value)))
    body.end()
    if None in edge.values():
        raise invalid("start or end is not whole")
    if call.has("member_schedules_shifted") and edge["time"] != "00:00:00+09:00":
        edge["time"] = "12:34:56+09:00"
    return edge
