"""Operation 3: the list of members."""

from accessapi import limits
from tests.contract import paging
from tests.contract.lab import UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, Outcome
from tests.contract.registry import case
from tests.contract.requests import follow
from tests.contract.shapes import Json
from tests.contract.trips import member_trip
from tests.contract.values import differences, raise_first


def crowd(house: House) -> None:
    """Create more members than the default page holds, if a bulk request can create them."""

    def make() -> bool:
        here = len(house.everyone())
        if here <= limits.PAGE_DEFAULT:
            group = house.group_id()
            wanted = limits.PAGE_DEFAULT + 1 - here
            names = [house.name(f"no. {number}") for number in range(1, wanted + 1)]
            body = {"members": [{"member_name": name, "membergroup_id": group} for name in names]}
            request_id = house.call("bulk_create_members", body=body)["request_id"]
            follow(house, request_id)
        return True

    try:
        house.once("crowd", make)
    except Outcome:
        house.once("member", lambda: house.new_member("plain"))


@case("list_members", "shows each member with name, group and code, and the card when fields names it")
def lists_members(house: House) -> None:
    try:
        trip = member_trip(house)
    except Outcome:
        house.everyone()
        raise
    row = _listed(house, trip.identifier)
    group = trip.given["membergroup_id"]
    names = {each["membergroup_id"]: each["membergroup_name"] for each in house.groups()}
    shown = ("member_name", "member_code", "membergroup_id", "use_date_start", "use_date_end")
    given = {name: trip.given[name] for name in shown if name not in trip.lost_by_create}
    if group in names:
        given["membergroup_name"] = names[group]
    if "qrcode" in row and "qrcode" in trip.given and "qrcode" not in trip.lost_by_create:
        given["qrcode"] = trip.given["qrcode"]
    raise_first("list_members", differences(given, row))
    if "card_data" not in trip.lost_by_create:
        carded = _listed(house, trip.identifier, fields="card_data")
        # `fields` adds to what is always shown.
        expected = {name: trip.given[name] for name in ("member_name", "card_data") if name not in trip.lost_by_create}
        raise_first("list_members", differences(expected, carded))
    if row.get("face_data") is not None:
        raise Differs("list_members", "face_data is present for a member without a face image")


def _listed(house: House, member_id: str, **query: str) -> Json:
    row = next((row for row in house.everyone(**query) if row["member_id"] == member_id), None)
    if row is None:
        raise Differs("list_members", "a member that was just created is not in the list")
    return row


@case("list_members", "walked page by page gives each member once, and the same as one page")
def walks_members(house: House) -> None:
    crowd(house)
    paging.check_walk(house, "list_members")


@case("list_members", "carries last_evaluated_key only when there is more")
def ends_members(house: House) -> None:
    crowd(house)
    paging.check_end(house, "list_members")


@case("list_members", "has 100 on a page by default")
def pages_members(house: House) -> None:
    crowd(house)
    paging.check_default(house, "list_members")


@case("list_members", "refuses a limit outside 1 to 1000 and an unknown access token", refusal=True)
def refuses_limits(house: House) -> None:
    paging.check_limits(house, "list_members")
    house.refused("list_members", "an unknown access token", token=UNKNOWN_TOKEN, worded=False)
