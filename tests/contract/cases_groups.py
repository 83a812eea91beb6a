"""Operations 16 to 18: member groups. The interface cannot delete them, so a run creates at most one."""

from accessapi import limits
from tests.contract import paging
from tests.contract.lab import UNKNOWN_ID, UNKNOWN_TOKEN, House, patiently
from tests.contract.outcomes import Differs, NotTried
from tests.contract.registry import case
from tests.contract.shapes import Json


def _listed(house: House, group_id: str) -> Json | None:
    house.forget("groups")
    return next((row for row in house.groups() if row["membergroup_id"] == group_id), None)


@case("list_membergroups", "shows each group with its name and how many members it has")
def lists_groups(house: House) -> None:
    group_id = house.group_id()
    house.member()

    def check() -> str | None:
        row = _listed(house, group_id)
        if row is None:
            return "a group that members belong to is not in the list"
        return None if row["member_count"] >= 1 else f"member_count: expected 1 at least, got {row['member_count']}"

    if found := patiently(check):
        raise Differs("list_membergroups", found)


@case("list_membergroups", "walked page by page gives each group once, and the same as one page")
def walks_groups(house: House) -> None:
    paging.check_walk(house, "list_membergroups")


@case("list_membergroups", "carries last_evaluated_key only when there is more")
def ends_groups(house: House) -> None:
    paging.check_end(house, "list_membergroups")


@case("list_membergroups", "has 100 on a page by default")
def pages_groups(house: House) -> None:
    paging.check_default(house, "list_membergroups")


@case("list_membergroups", "refuses a limit outside 1 to 1000 and an unknown access token", refusal=True)
def refuses_limits(house: House) -> None:
    paging.check_limits(house, "list_membergroups")
    house.refused("list_membergroups", "an unknown access token", token=UNKNOWN_TOKEN, worded=False)


@case("create_membergroup", "makes a group of the name given, which is listed then")
def creates_a_group(house: House) -> None:
    made = house.made_group()
    if made["membergroup_name"] != made["given"]:
        raise Differs(
            "create_membergroup",
            f"expected membergroup_name {made['given']!r} in its answer, got {made['membergroup_name']!r}",
        )
    row = _listed(house, made["membergroup_id"])
    if row is None:
        raise Differs("create_membergroup", "a group that was just created is not in the list")
    if row["membergroup_name"] != made["given"]:
        raise Differs(
            "create_membergroup", f"expected the name {made['given']!r} in the list, got {row['membergroup_name']!r}"
        )


_BAD = ("a name of 41 characters", "an empty name", "a group without membergroup_name")


def _bad_bodies(house: House) -> list[tuple[str, Json]]:
    return [
        (_BAD[0], {"membergroup_name": house.long_name(limits.GROUP_NAME_MAX + 1)}),
        (_BAD[1], {"membergroup_name": ""}),
        (_BAD[2], {}),
    ]


@case("create_membergroup", "refuses names of 0 and 41 characters, and none", refusal=True)
def refuses_groups(house: House) -> None:
    for what, body in _bad_bodies(house):
        house.refused("create_membergroup", what, body=body)


def _own_group(house: House) -> tuple[str, str]:
    """Return one of the suite's own groups, and its name."""
    group_id = house.group_id()
    row = _listed(house, group_id)
    if row is None or group_id not in house.suite_groups():
        raise NotTried("update_membergroup", "there is no group of the suite's own")
    return group_id, row["membergroup_name"]


@case("update_membergroup", "gives the group a new name, of up to 40 characters")
def renames(house: House) -> None:
    group_id, name = _own_group(house)
    path = {"membergroup_id": group_id}
    house.undo.append((f"the name of group {name!r}", lambda: _rename(house, path, name)))
    longest = house.long_name(limits.GROUP_NAME_MAX)
    answer = _rename(house, path, longest)
    for key, expected in (("membergroup_id", group_id), ("membergroup_name", longest)):
        if answer[key] != expected:
            raise Differs("update_membergroup", f"{key}: expected {expected!r} in its answer, got {answer[key]!r}")
    row = _listed(house, group_id)
    if row is None or row["membergroup_name"] != longest:
        got = row["membergroup_name"] if row else "no such group"
        raise Differs("update_membergroup", f"expected the name {longest!r} in the list, got {got!r}")


def _rename(house: House, path: dict[str, str], name: str) -> Json:
    return dict(house.call("update_membergroup", path=path, body={"membergroup_name": name}))


@case("update_membergroup", "refuses names of 0 and 41 characters, none, and an unknown group", refusal=True)
def refuses_to_rename(house: House) -> None:
    path = {"membergroup_id": _own_group(house)[0]}
    for what, body in _bad_bodies(house):
        house.refused("update_membergroup", what, path=path, body=body)
    house.refused(
        "update_membergroup",
        "an unknown membergroup_id",
        path={"membergroup_id": UNKNOWN_ID},
        body={"membergroup_name": house.group_name(0)},
    )
