"""Operations 13 to 15 and 34: many members in one request, and the results."""

from collections.abc import Callable

from accessapi import limits
from tests.contract.lab import UNKNOWN_ID, House, said
from tests.contract.outcomes import Differs, Outcome
from tests.contract.registry import case
from tests.contract.requests import follow
from tests.contract.shapes import Json, kind
from tests.contract.values import differences, raise_first

_RESULT = "request_result"


def _submit(house: House, operation: str, members: list[Json]) -> str:
    answer = house.call(operation, body={"members": members})
    if answer["request_type"] != "members_bulk":
        raise Differs(operation, f"expected request_type 'members_bulk', got {answer['request_type']!r}")
    return str(answer["request_id"])


def _created(house: House) -> Json:
    """Make two bulk requests, one after the other. In the second, the middle member's card is already used."""

    def make() -> Json:
        group, card = house.group_id(), house.card()
        first = [{"member_name": house.name(f"bulk {letter}"), "membergroup_id": group} for letter in "AB"]
        first[0]["card_data"] = card
        second = [{"member_name": house.name(f"bulk {letter}"), "membergroup_id": group} for letter in "CDE"]
        second[0]["member_code"] = house.code(20)
        second[1]["card_data"] = card
        earlier = _submit(house, "bulk_create_members", first)
        later = _submit(house, "bulk_create_members", second)
        last = follow(house, later)
        before = house.call(_RESULT, path={"request_id": earlier})
        if house.lab.catalogue.states.outcome_of(before["request_type"], before["status"]).is_final:
            house.finished(before)
        return {"earlier": before, "record": last, "members": second, "card": card, "first": first}

    return dict(house.once("bulk", make))


def _items(record: Json) -> list[Json]:
    result = record.get("result")
    rows = result.get("members") if isinstance(result, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _check_record(record: Json, names: list[str]) -> None:
    """Check a finished record for members of these names (specification: "Request record")."""
    result = record.get("result")
    if not isinstance(record.get("tag"), str):
        raise Differs(_RESULT, f"tag: expected a string for a bulk request, got {kind(record.get('tag'))}")
    if not isinstance(result, dict):
        raise Differs(_RESULT, f"result: expected an object for a bulk request, got {kind(result)}")
    for name in ("member_count", "completed_member_count"):
        if result.get(name) != len(names):
            raise Differs(_RESULT, f"{name}: expected {len(names)} of a finished request, got {result.get(name)}")
    items = _items(record)
    if len(items) != len(names):
        raise Differs(_RESULT, f"result.members: expected {len(names)} items, got {len(items)}")
    for number, (item, name) in enumerate(zip(items, names, strict=True)):
        _check_item(item, f"result.members[{number}]")
        if name and item.get("member_name") != name:
            raise Differs(
                _RESULT, f"result.members[{number}].member_name: expected {name!r} as in the request's order, got "
                f"{item.get('member_name')!r}"
            )  # fmt: skip
    failed = any(item["status"] == "failed" for item in items)
    expected = "completed_with_errors" if failed else "completed"
    if record["status"] != expected:
        raise Differs(_RESULT, f"status: expected {expected} of these results, got {record['status']}")


def _check_item(item: Json, at: str) -> None:
    status = item.get("status")
    if status not in ("succeeded", "failed"):
        raise Differs(_RESULT, f"{at}.status: expected succeeded or failed, got {status!r}")
    if status == "succeeded":
        if not isinstance(item.get("member_id"), str):
            raise Differs(_RESULT, f"{at}.member_id: expected a string, got {kind(item.get('member_id'))}")
        return
    if item.get("member_id") is not None:
        raise Differs(_RESULT, f"{at}.member_id is present for a failed member")
    error = item.get("error")
    if not isinstance(error, dict):
        raise Differs(_RESULT, f"{at}.error: expected an object for a failed member, got {kind(error)}")
    code = error.get("error_code")
    if not isinstance(code, str) or len(code) != 5 or not code.isdigit():
        raise Differs(_RESULT, f"{at}.error.error_code: expected a string of five digits, got {code!r}")
    if not isinstance(error.get("error_detail"), str):
        raise Differs(_RESULT, f"{at}.error.error_detail: expected a string, got {kind(error.get('error_detail'))}")


def _check_taken(operation: str, item: Json) -> None:
    if item["status"] != "failed":
        raise Differs(operation, "expected the member whose card is taken to fail, but it succeeded")
    if item["error"]["error_code"] != "40901":
        raise Differs(
            _RESULT, f"error_code: expected 40901 for a card that is taken, got {item['error']['error_code']}"
        )


@case("bulk_create_members", "makes the members that it can; one whose card is taken fails alone")
def creates_in_bulk(house: House) -> None:
    made = _created(house)
    _check_record(made["record"], [member["member_name"] for member in made["members"]])
    items = _items(made["record"])
    _check_taken("bulk_create_members", items[1])
    for number in (0, 2):
        if items[number]["status"] != "succeeded":
            raise Differs(
                "bulk_create_members", f"a valid member failed: {items[number]['error']['error_detail'][:120]}"
            )
        reply = house.reply("read_member", path={"member_id": items[number]["member_id"]})
        if not reply.fine:
            raise Differs("bulk_create_members", f"a member that succeeded cannot be read: HTTP {reply.status}")
        wanted = {key: made["members"][number][key] for key in ("member_name", "membergroup_id")}
        raise_first("bulk_create_members", differences(wanted, reply.json))


@case("bulk_create_members", "is worked on in the order of submission")
def works_in_order(house: House) -> None:
    status = _created(house)["earlier"]["status"]
    if status in ("pending", "progress"):
        raise Differs("bulk_create_members", f"a later request is finished, but the one before it is in {status}")


def _refuse_too_many(house: House, name: str, make: Callable[[int], Json]) -> None:
    """Send 1001 members: they are refused, or accepted (which "only confirms acceptance") and end in failed."""
    body = {"members": [make(number) for number in range(limits.BULK_MEMBERS_MAX + 1)]}
    reply = house.lab.raw.api(name, token=house.credentials.access_token, body=body)
    data = reply.json
    if reply.fine and isinstance(data, dict) and isinstance(data.get("request_id"), str):
        if follow(house, data["request_id"])["status"] != "failed":
            raise Differs(name, f"expected a refusal of 1001 members, got {said(reply)}")
    elif not 400 <= reply.status <= 499:
        raise Differs(name, f"expected a refusal of 1001 members, got {said(reply)}")


@case("bulk_create_members", "refuses more than 1000 members", refusal=True)
def refuses_too_many(house: House) -> None:
    # The members name a group that does not exist: if they were accepted after all, each would fail.
    _refuse_too_many(
        house,
        "bulk_create_members",
        lambda number: {"member_name": house.name(f"{number}"), "membergroup_id": UNKNOWN_ID},
    )


def _people(house: House) -> tuple[list[str], str]:
    """Create two members, by the bulk request or else one by one; return their IDs and the card of a third one."""
    try:
        made = _created(house)
        found = [item["member_id"] for item in _items(made["record"]) if item.get("status") == "succeeded"][:2]
        found = [name for name in found if house.reply("read_member", path={"member_id": name}).fine]
        if len(found) >= 2:
            return found, made["card"]
    except Outcome:
        pass
    card = house.card()
    house.new_member("with a card", card_data=card)
    return [house.new_member(f"bulk {letter}", member_code=house.code(8)) for letter in "FG"], card


@case("bulk_update_members", "changes what it names of each member; one whose new card is taken fails alone")
def updates_in_bulk(house: House) -> None:
    (first, second, *_), card = _people(house)
    before = house.call("read_member", path={"member_id": first})
    changes = {"member_name": house.name("bulk renamed"), "use_date_end": "2035-01-31T09:30:00+09:00"}
    members = [
        {"member_id": first, **changes},
        {"member_id": second, "card_data": card},
    ]
    record = follow(house, _submit(house, "bulk_update_members", members))
    _check_record(record, ["", ""])  # a renamed member's name there is not specified
    items = _items(record)
    _check_taken("bulk_update_members", items[1])
    if items[0]["status"] != "succeeded" or items[0]["member_id"] != first:
        raise Differs("bulk_update_members", "the valid update of the first member did not succeed")
    after = house.call("read_member", path={"member_id": first})
    raise_first("bulk_update_members", differences(changes, after))
    stay = {name: before[name] for name in ("member_code", "membergroup_id") if before.get(name)}
    if wrong := differences(stay, after):
        raise Differs("bulk_update_members", f"changed though not named: {next(iter(wrong.values()))}")


@case("bulk_update_members", "refuses more than 1000 members", refusal=True)
def refuses_too_many_updates(house: House) -> None:
    _refuse_too_many(
        house,
        "bulk_update_members",
        lambda number: {"member_id": f"{UNKNOWN_ID}-{number}", "member_name": house.name("x")},
    )


@case("bulk_delete_members", "takes the members away")
def deletes_in_bulk(house: House) -> None:
    ids = [house.new_member(f"bulk deleted {number}") for number in (1, 2)]
    record = follow(house, _submit(house, "bulk_delete_members", [{"member_id": name} for name in ids]))
    _check_record(record, ["", ""])
    if [item.get("member_id") for item in _items(record)] != ids:
        raise Differs(_RESULT, "result.members: expected the members in the order of the request")
    for member_id in ids:
        if house.reply("read_member", path={"member_id": member_id}).fine:
            raise Differs("bulk_delete_members", "a member can still be read though its deletion succeeded")
        house.gone(member_id)


@case("bulk_delete_members", "refuses more than 1000 members", refusal=True)
def refuses_too_many_deletions(house: House) -> None:
    _refuse_too_many(house, "bulk_delete_members", lambda number: {"member_id": f"{UNKNOWN_ID}-{number}"})


@case("request_result", "reports a bulk request: counts, and each member in the order of the request")
def tells_results(house: House) -> None:
    made = _created(house)
    record = made["record"]
    if record["request_type"] != "members_bulk":
        raise Differs(_RESULT, f"request_type: expected 'members_bulk', got {record['request_type']!r}")
    _check_record(record, [member["member_name"] for member in made["members"]])
    if made["earlier"]["status"] not in ("pending", "progress"):
        _check_record(made["earlier"], [member["member_name"] for member in made["first"]])


@case("request_result", "refuses an unknown request_id", refusal=True)
def refuses_unknown_requests(house: House) -> None:
    house.refused(_RESULT, "an unknown request_id", path={"request_id": UNKNOWN_ID})
