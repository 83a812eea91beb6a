"""Many members in one request: operations 13 to 15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.second_service import people
from tests.support.second_service.answers import Call, Json, Refusal, route
from tests.support.second_service.checks import Body
from tests.support.second_service.requests import Bulk, submit


def _submit(call: Call, tag: str, work: Callable[[Json], Json]) -> Json:
    body = Body(call, call.json)
    late = call.world.choices.judges_late
    most = 100_000 if late else 1000
    members = body.items("members", most, lambda item: isinstance(item, dict), required=True)
    body.end()

    def one(item: Json) -> Json:
        try:
            if call.has("bulk_all_or_nothing") and any(each.get("card_data") in _cards(call) for each in members):
                raise Refusal(422, 40901, "somebody has a card of these")
            before = call.house.members.get(str(item.get("member_id")))
            name = before["member_name"] if before else None  # an update reports the name that the member had before it
            done = people.brief(work(item))
            return {**done, "member_name": name or done["member_name"], "status": "succeeded", "at": len(members)}
        except Refusal as refusal:
            return _failed(call, item, refusal)

    def nameless(item: Json) -> Json:
        done = one(item)
        del done["member_name"]
        return done

    work_on = nameless if call.has("bulk_without_member_names") else one
    if late and len(members) > 1000:
        return submit(call, Bulk(tag, [], work_on, 0.0, final="failed"))
    return submit(call, Bulk(tag, members, work_on, call.world.choices.bulk_seconds))


def _cards(call: Call) -> list[Any]:
    return [member.get("card_data", "none") for member in call.house.members.values()]


def _failed(call: Call, item: Json, refusal: Refusal) -> Json:
    name: Any = item.get("member_name")
    if name is None and item.get("member_id") in call.house.members:
        name = call.house.members[item["member_id"]]["member_name"]
    result: Json = {"member_name": name if isinstance(name, str) else "", "status": "failed"}
    if call.has("bulk_failed_with_an_id"):
        result["member_id"] = "m-0"
    if not call.has("bulk_failed_without_error"):
        code = "40900" if call.has("bulk_card_under_another_code") else refusal.code
        result["error"] = {"error_code": code, "error_detail": refusal.detail}
    return result


def _own(call: Call, item: Json) -> Json:
    member = call.house.members.get(str(item.get("member_id")))
    if member is None:
        raise people.gone("member")
    return member


@route(13, "PUT", "/v1/crowd", "members:write")
def create(call: Call) -> Json:
    def work(item: Json) -> Json:
        found = people.fields(call, item, new=True)
        if not call.has("bulk_card_taken_twice"):
            people.check_unique(call, found)
        member = call.house.add_member(**found)
        if call.has("bulk_makes_nobody"):
            del call.house.members[member["member_id"]]
        return member

    return _submit(call, "create", work)


@route(14, "PATCH", "/v1/crowd", "members:write")
def update(call: Call) -> Json:
    def work(item: Json) -> Json:
        member = _own(call, item)
        found = people.fields(call, item, new=False, bulk=True)
        people.check_unique(call, found, member["member_id"])
        if not call.has("bulk_update_changes_nothing"):
            people.change(call, member, found)
        return member

    return _submit(call, "modification", work)


@route(15, "DELETE", "/v1/crowd", "members:write")
def delete(call: Call) -> Json:
    def work(item: Json) -> Json:
        member = _own(call, item)
        if not call.has("bulk_deletes_nobody"):
            call.house.faces.pop(member["member_id"], None)
            del call.house.members[member["member_id"]]
        return member

    return _submit(call, "x-remove", work)
