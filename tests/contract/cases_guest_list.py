"""Operation 19: the list of guests."""

from accessapi import limits
from tests.contract import paging
from tests.contract.lab import UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, NotTried, Outcome
from tests.contract.registry import case
from tests.contract.shapes import Json
from tests.contract.trips import guest_trip, second_guest
from tests.contract.values import differences, raise_first

#: Field names that the specification shows for a listed guest, with the default ones.
_NAMED = "guest_id,guest_name,use_date_start,use_date_end"


@case("list_guests", "shows guest_id and guest_name, and what fields names besides")
def lists_guests(house: House) -> None:
    try:
        trip = guest_trip(house)
    except Outcome:
        house.call("list_guests", query={"limit": limits.PAGE_MAX})
        raise
    row = _find(house, trip.identifier, {})
    if row is None:
        raise Differs("list_guests", "a guest that was just created is not in the list")
    names = ("guest_name", "use_date_start", "use_date_end", "is_for_reserve")
    given = {name: trip.given[name] for name in names if name not in trip.lost_by_create}
    # By default only the name is required; any other field must be correct.
    raise_first("list_guests", differences({k: v for k, v in given.items() if k == "guest_name" or k in row}, row))
    if not house.reply("list_guests", query={"limit": 1, "fields": _NAMED}).fine:
        return  # the specification does not show which names are allowed
    named = _find(house, trip.identifier, {"fields": _NAMED})
    if named is None:
        raise Differs("list_guests", "with fields, a guest is no longer in the list")
    raise_first("list_guests", differences({k: v for k, v in given.items() if k in _NAMED}, named))


def _find(house: House, guest_id: str, query: Json) -> Json | None:
    query = {"limit": limits.PAGE_MAX, **query}
    for _ in range(3):
        answer = house.call("list_guests", query=query)
        for row in answer["guests"]:
            if row["guest_id"] == guest_id:
                return dict(row)
        if not answer.get("last_evaluated_key"):
            return None
        query["last_evaluated_key"] = answer["last_evaluated_key"]
    raise NotTried("list_guests", "there are more than 3000 guests")


@case("list_guests", "walked page by page gives each guest once, and the same as one page")
def walks_guests(house: House) -> None:
    second_guest(house)
    paging.check_walk(house, "list_guests")


@case("list_guests", "carries last_evaluated_key only when there is more")
def ends_guests(house: House) -> None:
    second_guest(house)
    paging.check_end(house, "list_guests")


@case("list_guests", "has 100 on a page by default")
def pages_guests(house: House) -> None:
    second_guest(house)
    paging.check_default(house, "list_guests")


@case("list_guests", "refuses a limit outside 1 to 1000 and an unknown access token", refusal=True)
def refuses_limits(house: House) -> None:
    paging.check_limits(house, "list_guests")
    house.refused("list_guests", "an unknown access token", token=UNKNOWN_TOKEN, worded=False)
