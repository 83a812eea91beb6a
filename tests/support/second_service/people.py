"""Members: operations 3 to 6, 10 and 12."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import quote

from tests.support.second_service import rights
from tests.support.second_service.answers import Answer, Call, Json, Refusal, route
from tests.support.second_service.checks import Body, bad_query, invalid, page
from tests.support.second_service.house import DENY

_MAY_BE_NULL = ("use_date_start", "use_date_end")


def gone(what: str) -> Refusal:
    return Refusal(410, 41003, f"there is no such {what}")


def find(call: Call) -> Json:
    houses = call.world.houses if call.has("member_of_another_tenant_shown") else [call.house]
    for house in houses:
        if call.path["member_id"] in house.members:
            return house.members[call.path["member_id"]]
    raise gone("member")


def fields(call: Call, data: Any, *, new: bool, bulk: bool = False) -> Json:
    """Return the member's fields that a body sets. Fields that no contract covers are silently ignored."""
    house, body, found = call.house, Body(call, data), {}
    if bulk:
        body.text("member_id")
    found["member_name"] = body.text("member_name", 40, 1, required=new)
    if call.has("member_name_counted_in_bytes") and len((found["member_name"] or "").encode()) > 40:
        raise invalid("the name is too long")
    found["member_code"] = body.text("member_code", 20)
    found["membergroup_id"] = body.one_of("membergroup_id", list(house.groups), required=new)
    found["card_data"] = body.text("card_data", 16)
    for name in _MAY_BE_NULL:
        found[name] = body.at(name, nullable=True)
    for name, contract, read in (
        ("devices_pass", "door", rights.devices_pass), ("keys_pass", "key_box", rights.keys_pass),
    ):  # fmt: skip
        given = body.take(name, lambda value: True)
        if given is not None and (contract in house.contracts or call.has("member_rights_of_no_contract_kept")):
            found[name] = read(call, given)
    if (given := body.take("privilege", lambda value: True)) is not None:
        found["privilege"] = _privilege(call, given)
    if (given := body.take("qrcode", lambda value: True)) is not None:
        found["qrcode"] = _qrcode(call, given, new=new)
    body.end()
    cleared = {name for name in _MAY_BE_NULL if name in body and not call.has("member_dates_not_cleared")}
    return {name: value for name, value in found.items() if value is not None or name in cleared}


def _privilege(call: Call, data: Any) -> Json:
    body = Body(call, data, "privilege")
    found = {name: body.flag(name) for name in ("keys_without_2fa", "restricted_keys_enabled")}
    body.end()
    return {name: value for name, value in found.items() if value is not None}


def _qrcode(call: Call, data: Any, *, new: bool) -> Json:
    if "qr" not in call.house.contracts:
        raise Refusal(402, 40211, "the QR option is not under contract")
    body = Body(call, data, "qrcode")
    if not new and body.flag("remove"):
        body.end()
        return {}
    email = body.text("email", 254)
    if email is not None:
        body.end()
        return {"email": email, "data": "issued" + hashlib.sha256(email.encode()).hexdigest()[:20]}
    found = {"data": body.text("data", required=True)}
    one_time = body.take("one_time_qr", lambda value: True)
    body.end()
    if one_time is None:
        return found
    inner = Body(call, one_time, "one_time_qr")
    found["one_time_qr"] = {
        "enabled": inner.flag("enabled", required=True),
        "timestep": inner.number("timestep", 30, 86400, required=True),
        "skew": inner.number("skew", 0, 9, required=True),
    }
    inner.end()
    return found


def check_unique(call: Call, found: Json, own_id: str = "") -> None:
    """Raise Refusal when another member has the card or, a rule of this service alone, the code."""
    for name, code in (("card_data", 40901), ("member_code", 40955)):
        if name == "card_data" and call.number == 4 and call.has("member_card_twice"):
            continue
        others = [member.get(name) for member in call.house.members.values() if member["member_id"] != own_id]
        if found.get(name) and found[name] in others:
            raise Refusal(422, code, f"somebody has this {name}")


def change(call: Call, member: Json, found: Json) -> None:
    if "privilege" in found:
        found["privilege"] = member["privilege"] | found["privilege"]
    if found.get("qrcode") == {} and call.has("member_qrcode_not_removed"):
        del found["qrcode"]
    clears = {6: "member_update_clears_omitted", 14: "bulk_update_clears_omitted"}.get(call.number, "")
    if clears and call.has(clears):
        for name in ("member_code", "card_data", "qrcode"):
            member.pop(name, None)
    member.update(found)


def shown(call: Call, member: Json) -> Json:
    """Return all fields of a member, in lists too. Empty ones are left out, except dates."""
    house = call.house
    view = {name: value for name, value in member.items() if not name.startswith("_") and value not in ("", {})}
    view["membergroup_name"] = house.groups.get(member["membergroup_id"], {}).get("membergroup_name")
    view["account_type"] = "resident_v2"
    if call.has("member_rights_allow_by_default"):
        view |= {name: {"default_mode": "allow_all"} for name in ("devices_pass", "keys_pass") if view[name] is DENY}
    if call.has("member_privilege_on_by_default") and not any(member["privilege"].values()):
        view["privilege"] = {"keys_without_2fa": True, "restricted_keys_enabled": True}
    for name, contract in (("devices_pass", "door"), ("keys_pass", "key_box")):
        if contract not in house.contracts and not call.has("member_rights_of_no_contract_kept"):
            del view[name]
    if face := house.faces.get(member["member_id"]):
        view["face_data"] = face
    if "profile_image_url" in view:
        view["profile_image_url"] += f"&signed={call.world.slow_down()}"
    one_time = member.get("qrcode", {}).get("one_time_qr", {})
    if one_time.get("enabled") and not call.has("member_without_seed"):
        seed = hashlib.sha256(member["member_id"].encode()).hexdigest()
        view["qrcode"] = {**member["qrcode"], "one_time_qr": {**one_time, "totp_seed": seed}}
    nulls = ("member_code", "card_data", "qrcode", "face_data", "profile_image_url")
    return dict.fromkeys(nulls) | view if call.world.choices.shows_nulls else view


def brief(member: Json) -> Json:
    return {"member_id": member["member_id"], "member_name": member["member_name"]}


@route(3, "GET", "/v1/members", "members:read")
def list_members(call: Call) -> Json:
    call.world.somebody_else(call.house)
    if strange := set(filter(None, call.asked("fields").split(","))) - {"card_data"}:
        raise bad_query(f"no field {min(strange)}")
    newest_first = [*call.world.ghosts, *reversed(call.house.members.values())]
    return page(call, newest_first, "members", lambda member: shown(call, member))


@route(4, "POST", "/v1/members", "members:write")
def create(call: Call) -> Json:
    found = fields(call, call.json, new=True)
    check_unique(call, found)
    found.setdefault("membergroup_id", "組 1")  # only a flaw lets a member without a group get here
    return brief(call.house.add_member(**found))


@route(5, "GET", "/v1/members/{member_id}", "members:read")
def read(call: Call) -> Json:
    return shown(call, find(call))


@route(6, "PATCH", "/v2/people/{member_id}/fields", "members:write")
def update(call: Call) -> Json:
    member = find(call)
    found = fields(call, call.json, new=False)
    check_unique(call, found, member["member_id"])
    change(call, member, found)
    return brief(member)


@route(10, "POST", "/v1/members/{member_id}/leave", "members:write")
def delete(call: Call) -> Answer:
    member = find(call)
    if not call.has("member_not_deleted"):
        if not call.has("face_outlives_its_member"):
            call.house.faces.pop(member["member_id"], None)
        del call.house.members[member["member_id"]]
        if call.has("members_keep_the_deleted"):
            call.world.ghosts.append(member)
    return Answer(200, "さようなら".encode())


@route(12, "POST", "/v1/members/{member_id}/one_time_qr", "members:read", contract="qr")
def one_time_qr(call: Call) -> Json:
    if call.asked("version", "1") != "1" and not call.unchecked("version"):
        raise bad_query("there is only version 1")
    member = find(call)
    code = member.get("qrcode", {})
    if not code.get("one_time_qr", {}).get("enabled") and not call.has("otqr_for_static_codes"):
        raise invalid("no one-time codes for this member")
    data = "other" if call.has("otqr_of_other_data") else quote(code.get("data", "none"), safe="")
    secret = hashlib.sha256(member["member_id"].encode()).hexdigest()[:8]
    text = f"SL-OTQR?v=1&data={data}&totp={'' if call.has('otqr_without_code') else secret}"
    return {"member_id": member["member_id"], "one_time_qr_data": text, "version": "1", "expiration_in_seconds": 11}
