"""Somebody's rights: as the mirror knows them, fresh from the service, and whether two readings mean the same.

Compared are mappings with "devices_pass", "keys_pass" and "privilege"; one that is missing or None was not told.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from portal.core.budget.priorities import Priority
from portal.core.mirror import single_reads
from portal.core.mirror.fields.members import DOORS_AND_KEYS, PRIVILEGE, RIGHTS_NAMES
from portal.core.mirror.models import Member
from portal.core.timers.clock import database_now
from tenants.models import Connection


@dataclass(frozen=True)
class MemberRights:
    """What the service said: each part verbatim, None where it said nothing (operation 5; absent without contract)."""

    devices_pass: Any
    keys_pass: Any
    privilege: Any
    read_at: datetime | None = None

    @classmethod
    def of(cls, told: Mapping[str, Any], read_at: datetime | None) -> "MemberRights":
        devices, keys, privilege = (told.get(name) for name in RIGHTS_NAMES)
        return cls(devices, keys, privilege, read_at)

    @property
    def parts(self) -> dict[str, Any]:
        """The three by the specification's names."""
        return {name: getattr(self, name) for name in RIGHTS_NAMES}


def rights_in_mirror(member: Member) -> MemberRights | None:
    """What the mirror has, or None while nothing was ever read."""
    if member.rights is None:
        return None
    return MemberRights.of(member.rights, member.rights_read_at)


def read_rights(connection: Connection, member_id: str, priority: Priority = Priority.PEOPLE) -> MemberRights:
    """One call (operation 5), within budget; the mirror learns it. Raises NotFound, BudgetExhausted, ServiceError."""
    asked_at = database_now()
    member = single_reads.read_member(connection, member_id, priority)
    return MemberRights.of(
        {name: member.invalid_values.get(name, _verbatim(getattr(member, name))) for name in RIGHTS_NAMES}, asked_at
    )


def _verbatim(value: Any) -> Any:
    """A part of a member as it came: what could not be read stands where the service had put it."""
    if value is None or isinstance(value, dict):
        return value
    return {**value.model_dump(exclude_unset=True), **value.invalid_values}


def canonical(rights: Mapping[str, Any]) -> dict[str, Any]:
    """The three parts so that two that mean the same are equal; None for a part that was not told."""
    told = [(each, rights.get(each.name)) for each in DOORS_AND_KEYS]
    normal = {each.name: None if value is None else each.normalise(value) for each, value in told}
    return {**normal, PRIVILEGE.name: _with_defaults(rights.get(PRIVILEGE.name))}


def _with_defaults(privilege: Any) -> Any:
    """Privileges that were never given are given to nobody (specification: default false)."""
    if privilege is not None and not isinstance(privilege, dict):
        return privilege
    given = privilege or {}
    return {**given, **{name: value for name, value in PRIVILEGE.default.items() if given.get(name) is None}}


def digest(rights: Mapping[str, Any]) -> str:
    """The same for any two readings that mean the same, however they are written down."""
    text = json.dumps(canonical(rights), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def is_same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, true and 1 being different."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_as_sent(name: str, wanted: Any, told: Any) -> bool:
    """Whether what the service tells now of one part is what was sent: in meaning, as it may write it otherwise."""
    if name == PRIVILEGE.name:
        given = told if isinstance(told, dict) else {}
        return isinstance(wanted, dict) and all(given.get(key) == value for key, value in wanted.items())
    nothing = {"default_mode": "deny_all"}
    return is_same_json(canonical({name: wanted})[name] or nothing, canonical({name: told})[name] or nothing)
