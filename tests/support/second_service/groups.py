"""Member groups and the tenant itself: operations 1, 2 and 16 to 18."""

from __future__ import annotations

from typing import Any

from tests.support.second_service.answers import Call, Json, Refusal, route
from tests.support.second_service.checks import Body, invalid, page
from tests.support.second_service.people import gone


@route(1, "POST", "/v1/tenant/look", "tenant:read")
def tenant(call: Call) -> Json:
    return dict(call.house.tenant)


@route(2, "PATCH", "/v1/tenant/notifications", "tenant:write")
def webhook(call: Call) -> Json:
    body, found = Body(call, call.json), dict(call.house.tenant["settings"]["webhook"] or {})
    found["is_invalid"] = body.flag("is_invalid", required=True)
    found["url"] = body.text("url", required=True)
    if found["url"] is not None and not found["url"].startswith("https://"):
        raise invalid("only https")
    secret = body.text("secret_token", 64, nullable=not call.has("webhook_null_refused"))
    if "secret_token" in body or call.has("webhook_secret_cleared"):
        found["secret_token"] = secret
    trigger = body.take("trigger", lambda value: True, required=True)
    if trigger is not None:
        found["trigger"] = _trigger(call, trigger)
    body.end()
    if not call.has("webhook_not_stored"):
        call.house.tenant["settings"]["webhook"] = found
    return {}


def _trigger(call: Call, data: Any) -> Json:
    body = Body(call, data, "trigger")
    inner = Body(call, body.take("history", lambda value: True, required=True), "history")
    category = inner.items("category", 100, lambda word: isinstance(word, str), required=True)
    inner.end()
    body.end()
    return {"history": {"category": category}}


@route(16, "GET", "/v1/membergroups", "membergroups:read")
def list_groups(call: Call) -> Json:
    def view(group: Json) -> Json:
        count = sum(m["membergroup_id"] == group["membergroup_id"] for m in call.house.members.values())
        return _brief(group) | {"member_count": 0 if call.has("membergroups_count_is_0") else count}

    return page(call, list(reversed(call.house.groups.values())), "membergroups", view)


@route(17, "PUT", "/v1/membergroups/-/new", "membergroups:write")
def create(call: Call) -> Json:
    name = _name(call)
    id_ = f"組 {len(call.house.groups)}"
    call.house.groups[id_] = call.house.row(membergroup_id=id_, membergroup_name=name)
    return _brief(call.house.groups[id_])


@route(18, "POST", "/v1/membergroups/{membergroup_id}", "membergroups:write")
def update(call: Call) -> Json:
    group = call.house.groups.get(call.path["membergroup_id"])
    if group is None:
        raise gone("group")
    name = _name(call)
    if not call.has("group_not_renamed"):
        group["membergroup_name"] = name
    return {**_brief(group), "membergroup_name": name}


def _name(call: Call) -> str:
    body = Body(call, call.json)
    name: str = body.text("membergroup_name", 40, 1, required=True)
    body.end()
    own_id = call.path.get("membergroup_id")
    if any(each["membergroup_name"] == name for id_, each in call.house.groups.items() if id_ != own_id):
        raise Refusal(409, 40933, "a group has this name")
    return name


def _brief(group: Json) -> Json:
    return {"membergroup_id": group["membergroup_id"], "membergroup_name": group["membergroup_name"]}
