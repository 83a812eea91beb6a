"""Callers without a known access token get nothing, at all operations for which other files do not try this.

The calls are valid and harmless: they use what this run created, or repeat existing values.
"""

from collections.abc import Callable
from typing import Any

from tests.contract import cases_keys, cases_physical, cases_tenant
from tests.contract.cases_histories import newest
from tests.contract.cases_members import one_time_member
from tests.contract.images import jpeg
from tests.contract.lab import UNKNOWN_TOKEN, House
from tests.contract.registry import case
from tests.contract.shapes import Json
from tests.contract.things import days_ahead
from tests.contract.trips import guest_body, guest_trip

#: How many cameras and logs are tried: some may not be reachable, or have no video.
_TRIES = 3

Calls = Callable[[House], list[Json]]


def _member(house: House, label: str = "") -> dict[str, str]:
    return {"member_id": house.new_member(label) if label else house.member()}


def _new(house: House) -> Json:
    return {"member_name": house.name("stranger"), "membergroup_id": house.group_id()}


def _cameras(house: House) -> list[str]:
    return [*house.credentials.cameras, *house.cameras_seen][:_TRIES]


def _temporary(house: House) -> Json:
    path, box, _ = cases_keys.working(house)
    return {"path": path, "body": cases_keys.use_of(box)}


def _webhook(house: House) -> Json:
    cases_tenant.original(house)  # restores the settings at the end
    return {"body": cases_tenant.webhook_body(True, cases_tenant.ADDRESS, ["normal"])}


def _mock(name: str) -> Calls:
    def calls(house: House) -> list[Json]:
        cases_physical.check_mocks(house, name)
        path = {cases_physical.PARAMETER[name]: "mock_succeeded"}
        return [{"path": path, "body": cases_physical.BODY[name]}]

    return calls


def _group(house: House) -> Json:
    """Return a body that renames this run's group to its current name."""
    group_id = house.group_id()
    name = next(row["membergroup_name"] for row in house.groups() if row["membergroup_id"] == group_id)
    return {"path": {"membergroup_id": group_id}, "body": {"membergroup_name": name}}


_CALLS: dict[str, Calls] = {
    "update_webhook": lambda house: [_webhook(house)],
    "create_member": lambda house: [{"body": _new(house)}],
    "update_member": lambda house: [{"path": _member(house), "body": {"use_date_end": days_ahead(400)}}],
    "register_profile_image": lambda house: [{"path": _member(house), "body": jpeg()}],
    "register_face_image": lambda house: [{"path": _member(house), "body": jpeg(1200, 1600)}],
    "delete_face_image": lambda house: [{"path": _member(house)}],
    "delete_member": lambda house: [{"path": _member(house, "stays")}],
    "temporary_use": lambda house: [_temporary(house)],
    "one_time_qr": lambda house: [{"path": {"member_id": one_time_member(house)[0]}}],
    "bulk_create_members": lambda house: [{"body": {"members": [_new(house)]}}],
    "bulk_update_members": lambda house: [{"body": {"members": [_member(house) | {"use_date_end": None}]}}],
    "bulk_delete_members": lambda house: [{"body": {"members": [_member(house, "stays too")]}}],
    "create_membergroup": lambda house: [{"body": {"membergroup_name": house.name("stranger")}}],
    "update_membergroup": lambda house: [_group(house)],
    "create_guest": lambda house: [{"body": guest_body(house, "stranger")}],
    "update_guest": lambda house: [
        {"path": {"guest_id": guest_trip(house).identifier}, "body": {"remarks": "stranger"}}
    ],
    "camera_snapshots": lambda house: [{"query": [("cameras_list", each)]} for each in _cameras(house)],
    "camera_streaming": lambda house: [{"path": {"camera_id": each}} for each in _cameras(house)],
    "camera_status": lambda house: [{"path": {"camera_id": each}} for each in _cameras(house)],
    "history_video": lambda house: [{"path": {"history_id": row["history_id"]}} for row in newest(house)[-_TRIES:]],
    "operate_door": _mock("operate_door"),
    "operate_keys": _mock("operate_keys"),
}


def _refuses_strangers(name: str, calls: Calls) -> Callable[[House], None]:
    def refuses(house: House) -> None:
        given: dict[str, Any]
        for given in calls(house):
            house.refused(name, "an unknown access token", token=UNKNOWN_TOKEN, worded=False, **given)

    return refuses


for _name, _calls in _CALLS.items():
    case(_name, "answers no one without a known access token", refusal=True)(_refuses_strangers(_name, _calls))
