"""A member's rights: from the mirror or from the service, and the comparison of two versions.

The comparison takes mappings with "devices_pass", "keys_pass" and "privilege"; a missing part or None is unknown.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from portal.base.timers.clock import database_now
from portal.domain.budget.priorities import Priority
from portal.domain.mirror import single_reads
from portal.domain.mirror.fields.members import DOORS_AND_KEYS, PRIVILEGE, RIGHTS_NAMES
from portal.domain.mirror.models import Member
from tenants.models import Connection


@dataclass(frozen=True)
class MemberRights:
    """Rights as the service returned them, unchanged. A part is None if it was absent (operation 5, no contract)."""

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
        """Return the three parts by the specification's names."""
        return {name: getattr(self, name) for name in RIGHTS_NAMES}


def rights_in_mirror(member: Member) -> MemberRights | None:
    """Return the rights in the mirror, or None if they were never loaded."""
    if member.rights is None:
        return None
    return MemberRights.of(member.rights, member.rights_read_at)


def read_rights(connection: Connection, member_id: str, priority: Priority = Priority.PEOPLE) -> MemberRights:
    """Load a member's rights with one call (operation 5) and store them in the mirror.

    Raises NotFound, BudgetExhausted, ServiceError.
    """
    asked_at = database_now()
    member = single_reads.read_member(connection, member_id, priority)
    return MemberRights.of(
        {name: member.invalid_values.get(name, _verbatim(getattr(member, name))) for name in RIGHTS_NAMES}, asked_at
    )


def _verbatim(value: Any) -> Any:
    """Return a part of a member as the service sent it, with unreadable values in their places."""
    if value is None or isinstance(value, dict):
        return value
    return {**value.model_dump(exclude_unset=True), **value.invalid_values}


def canonical(rights: Mapping[str, Any]) -> dict[str, Any]:
    """Return the three parts in canonical form, so that equal meanings are equal values; None for an unknown part."""
    told = [(each, rights.get(each.name)) for each in DOORS_AND_KEYS]
    normal = {each.name: None if value is None else each.normalise(value) for each, value in told}
    return {**normal, PRIVILEGE.name: _with_defaults(rights.get(PRIVILEGE.name))}


def _with_defaults(privilege: Any) -> Any:
    """Add the default to each missing privilege (specification: false)."""
    if privilege is not None and not isinstance(privilege, dict):
        return privilege
    given = privilege or {}
    return {**given, **{name: value for name, value in PRIVILEGE.default.items() if given.get(name) is None}}


def digest(rights: Mapping[str, Any]) -> str:
    """Return the same hash for any two versions with the same meaning."""
    text = json.dumps(canonical(rights), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def is_same_json(one: Any, other: Any) -> bool:
    """Return True if two JSON values are equal. In Python, `True == 1`; here they differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_as_sent(name: str, wanted: Any, told: Any) -> bool:
    """Return True if the service's value of one part means the same as the sent one, even if written differently."""
    if name == PRIVILEGE.name:
        given = told if isinstance(told, dict) else {}
        return isinstance(wanted, dict) and all(given.get(key) == value for key, value in wanted.items())
    nothing = {"default_mode": "deny_all"}
    return is_same_json(canonical({name: wanted})[name] or nothing, canonical({name: told})[name] or nothing)
