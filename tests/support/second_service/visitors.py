"""Guests: operations 19 to 22."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.second_service.answers import Call, Json, Refusal, route
from tests.support.second_service.checks import Body, bad_query, invalid, moment, now, page, said
from tests.support.second_service.people import gone

_LISTED = ("guest_id", "guest_name", "email", "use_date_start", "use_date_end", "key_return_date_end", "is_for_reserve")


@route(19, "POST", "/v1/guests/look", "guests:read", contract="qr")
def list_guests(call: Call) -> Json:
    words = [word for word in call.asked("fields").split(",") if word]
    if strange := [word for word in words if word not in _LISTED or call.world.choices.own_words]:
        raise bad_query(f"no field {strange[0]}")
    if call.has("guests_fields_ignored"):
        words = []

    def view(guest: Json) -> Json:
        whole = _whole(call, guest)
        return {name: whole[name] for name in ("guest_name", "guest_id", *words) if name in whole}

    return page(call, list(reversed(call.house.guests.values())), "guests", view)


@route(20, "POST", "/v1/guests", "guests:write", contract="qr")
def create(call: Call) -> Json:
    body = Body(call, call.json)
    found = _common(call, body, new=True)
    method = Body(call, body.take("qrcode_issuing_method", lambda value: True, required=True), "the method")
    body.end()
    if "qrcode_data" in method:
        found["qrcode_data"] = method.text("qrcode_data", call.most(557, "guest_qrcode_of_557_refused"), required=True)
    else:
        found["email"] = method.text("email", 254, required=True)
        found["remarks"] = method.text("remarks")
        found["qrcode_data"] = "issued-by-us"
    method.end()
    for flaw, name in (("areas", "area_id_list"), ("keys", "key_devices_list")):
        if call.has(f"guest_created_without_{flaw}"):
            found[name] = []
    found = {name: value for name, value in found.items() if value is not None}
    return _brief(call.house.add_guest(**found))


@route(21, "GET", "/v1/guests/{guest_id}", "guests:read", contract="qr")
def read(call: Call) -> Json:
    return _whole(call, _find(call))


@route(22, "POST", "/v1/guests/{guest_id}/change", "guests:write", contract="qr")
def update(call: Call) -> Json:
    guest, body = _find(call), Body(call, call.json)
    found = _common(call, body, new=False)
    found["qrcode_data"] = body.text("qrcode_data", call.most(557, "guest_qrcode_of_557_refused"))
    found["remarks"] = body.text("remarks", call.most(200, "guest_remarks_of_200_refused"))
    body.end()
    if call.has("guest_update_clears_omitted"):
        for name in ("email", "remarks", "area_id_list", "key_devices_list"):
            guest.pop(name, None)
        guest["return_grace_period"] = 0
    for flaw, name in (("areas", "area_id_list"), ("keys", "key_devices_list")):
        if call.has(f"guest_{flaw}_unchanged"):
            found[name] = None
    guest |= {name: value for name, value in found.items() if value is not None}
    return _brief(guest)


def _find(call: Call) -> Json:
    houses = call.world.houses if call.has("guest_of_another_tenant_shown") else [call.house]
    for house in houses:
        if call.path["guest_id"] in house.guests:
            return house.guests[call.path["guest_id"]]
    raise gone("guest")


def _common(call: Call, body: Body, *, new: bool) -> Json:
    found: Json = {"guest_name": body.text("guest_name", 40, 1, required=new)}
    found["email"] = body.text("email", 254)
    for name in ("use_date_start", "use_date_end"):
        found[name] = body.at(name, required=new)
    start, end = found["use_date_start"], found["use_date_end"]
    if start and end and moment(start) >= moment(end):
        raise invalid("the end is before the start")
    if end and not call.world.choices.takes_past_guests and moment(end) < now():
        raise invalid("the end is over")
    if "key_box" in call.house.contracts:
        most = call.most(10080, "guest_grace_of_10080_refused")
        found["return_grace_period"] = body.number("return_grace_period", 0, most)
    found["is_for_reserve"] = body.flag("is_for_reserve") if new else None
    if "door" in call.house.contracts:
        known = [area["area_id"] for area in call.house.areas]
        areas = body.items("area_id_list", 100, lambda id_: id_ in known)
        if areas and len(set(areas)) < len(areas) and not call.unchecked("area_id_list"):
            raise invalid("an area is named twice")
        found["area_id_list"] = areas
    boxes = body.items("key_devices_list", 100) if "key_box" in call.house.contracts else None
    if boxes and not call.world.choices.lends_keys:
        raise Refusal(403, 40372, "no keys of these boxes are for guests")
    if boxes is not None:
        found["key_devices_list"] = [_keys(call, item) for item in boxes]
    body.seen |= {"area_id_list", "key_devices_list", "return_grace_period"}
    return found


def _keys(call: Call, data: Any) -> Json:
    body = Body(call, data, "a key box")
    id_ = body.one_of("key_device_id", list(call.house.boxes), required=True)
    known = [unit["unit_no"] for unit in call.house.boxes[id_]["units"]]
    found = {"key_device_id": id_, "units_no_list": body.items("units_no_list", 100, known.__contains__, required=True)}
    body.end()
    return found


def _whole(call: Call, guest: Json) -> Json:
    """Return all fields of a guest; rights are shown as the schedule of the use period."""
    view = {name: guest[name] for name in guest if name not in ("_seq", "area_id_list", "key_devices_list")}
    grace = timedelta(minutes=guest["return_grace_period"])
    view["key_return_date_end"] = said(moment(guest["use_date_end"]) + grace)
    until = {"effect": "allow", "schedule": [_period(guest)]}
    if "door" in call.house.contracts:
        areas = [{"area_id": id_, "pass": until} for id_ in guest.get("area_id_list", [])]
        view["devices_pass"] = {"default_mode": "option", "areas_list": areas}
    if "key_box" in call.house.contracts:
        boxes = [
            {
                "key_device_id": box["key_device_id"],
                "default_mode": "option",
                "units": [{"unit_no": no, "pass": until} for no in box["units_no_list"]],
            }
            for box in guest.get("key_devices_list", [])
        ]
        view["keys_pass"] = {"default_mode": "option", "key_devices_list": boxes}
    return view


def _period(guest: Json) -> Json:
    edges = {}
    for name, field in (("start", "use_date_start"), ("end", "use_date_end")):
        date, _, time = guest[field].partition("T")
        edges[name] = {"date": date, "time": time}
    return {"mode": "range", **edges}


def _brief(guest: Json) -> Json:
    return {"guest_id": guest["guest_id"], "guest_name": guest["guest_name"]}
