"""Delete everything that a run created, even after an error. Groups stay: the interface cannot delete them."""

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from accessapi import limits
from accessapi.errors import ServiceError
from accessapi.resources import write_moment
from tests.contract.lab import House, Lab
from tests.contract.outcomes import Outcome, Unreachable
from tests.contract.requests import follow
from tests.contract.things import PREFIX
from tests.contract.wire import Reply

#: From so many members on, one bulk request deletes them.
_BULK_FROM = 4
#: Errors of the service that must not stop the rest of the cleaning.
_TROUBLE = (Outcome, Unreachable, ServiceError, KeyError, TypeError)
#: Statuses for things that do not exist (any more).
_GONE = (404, 410)


def clean(lab: Lab, say: Callable[[str], None]) -> list[str]:
    """Undo and delete everything that this run created. Return a sentence for each thing that could not be deleted."""
    left: list[str] = []
    for house in lab.houses:
        house.cleaning = True
        for what, undo in reversed(house.undo):
            try:
                undo()
            except _TROUBLE as error:
                left.append(f"{what} could not be put back: {error}")
        house.undo.clear()
        left += _settle(house)
        if len(house.member_ids) > 50:
            say(f"Deleting {len(house.member_ids)} members")
        left += _members(house) + _guests(house)
    _tokens(lab)
    return left


def _tokens(lab: Lab) -> None:
    """Revoke the token that this run got, and the tokens that it replaced."""
    client = lab.credentials.oauth
    for token in [lab.oauth_token, *lab.oauth_old_tokens]:
        if client and token and token not in lab.revoked:
            form = [("client_id", client.client_id), ("client_secret", client.client_secret), ("token", token)]
            with contextlib.suppress(Unreachable):
                lab.raw.oauth("revoke_token", form=form, bearer=token)


def _settle(house: House) -> list[str]:
    """Wait for bulk requests, so that none creates a member after the cleaning. Find unknown members by their names."""
    for request_id in list(house.bulk_ids):
        with contextlib.suppress(*_TROUBLE):
            follow(house, request_id)
    if house.must_sweep or house.awaits or house.bulk_ids:
        with contextlib.suppress(*_TROUBLE):
            for row in house.everyone():
                if house.is_ours(row.get("member_name")):
                    house.member_ids[row["member_id"]] = True
    if not house.bulk_ids:
        return []
    return [f"bulk request {name} is not finished: it may still make members named {PREFIX}" for name in house.bulk_ids]


def _members(house: House) -> list[str]:
    ids = list(house.member_ids)
    if not ids:
        return []
    if len(ids) >= _BULK_FROM and not house.is_slow:
        for start in range(0, len(ids), limits.BULK_MEMBERS_MAX):
            with contextlib.suppress(*_TROUBLE):
                _bulk_delete(house, ids[start : start + limits.BULK_MEMBERS_MAX])
    # Delete the members that are left one by one: they are few, or the bulk request did not delete them.
    for member_id in list(house.member_ids):
        with contextlib.suppress(*_TROUBLE):
            path = {"member_id": member_id}
            if _done(house, house.reply("delete_member", path=path), "read_member", path):
                house.gone(member_id)
    left = set(house.member_ids)
    with contextlib.suppress(*_TROUBLE):  # the list may still contain members that were reported as deleted
        left |= {row["member_id"] for row in house.everyone() if row["member_id"] in ids}
    count = len(left)
    return [f"{count} members whose names begin with {PREFIX!r} could not be deleted"] if count else []


def _bulk_delete(house: House, ids: list[str]) -> None:
    body = {"members": [{"member_id": member_id} for member_id in ids]}
    reply = house.reply("bulk_delete_members", body=body)
    if not reply.fine:
        return
    record = follow(house, reply.json["request_id"])
    if record["status"] == "completed":
        for member_id in ids:
            house.gone(member_id)
        return
    for item in record["result"]["members"]:
        if item.get("status") == "succeeded" and isinstance(item.get("member_id"), str):
            house.gone(item["member_id"])


def _guests(house: House) -> list[str]:
    """End guests, which cannot be deleted: over a week ago, so that the service removes them, or else now."""
    now = datetime.now(limits.JST)
    left = []
    for guest_id in house.guest_ids:
        if not any(_end(house, guest_id, now + timedelta(minutes=minutes)) for minutes in (-8 * 24 * 60, -1, 1)):
            left.append(f"guest {guest_id} ends tomorrow: its period could not be shortened")
    return left


def _end(house: House, guest_id: str, at: datetime) -> bool:
    changes: dict[str, Any] = {
        "use_date_start": write_moment(at - timedelta(minutes=1)),
        "use_date_end": write_moment(at),
    }
    if house.has("door"):
        changes["area_id_list"] = []
    if house.has("key_box"):
        changes["key_devices_list"] = []
    with contextlib.suppress(*_TROUBLE):
        path = {"guest_id": guest_id}
        return _done(house, house.reply("update_guest", path=path, body=changes), "read_guest", path)
    return False


def _done(house: House, reply: Reply, read: str, path: dict[str, str]) -> bool:
    """Check that it worked or was not needed. A 404 may also mean a missing route, so the read must return one, too."""
    return reply.fine or (reply.status in _GONE and house.reply(read, path=path).status in _GONE)
