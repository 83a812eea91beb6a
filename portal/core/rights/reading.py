"""Somebody's rights: as the mirror knows them, and fresh from the service."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from portal.core.budget.priorities import Priority
from portal.core.mirror import reading
from portal.core.mirror.fields.members import RIGHTS
from portal.core.mirror.models import Member
from portal.core.timers.clock import database_now
from tenants.models import Connection


@dataclass(frozen=True)
class Rights:
    """What the service said: each part verbatim, None where it said nothing (operation 5; absent without contract)."""

    devices_pass: Any
    keys_pass: Any
    privilege: Any
    read_at: datetime | None = None

    @classmethod
    def of(cls, told: Mapping[str, Any], read_at: datetime | None) -> "Rights":
        devices, keys, privilege = (told.get(name) for name in RIGHTS)
        return cls(devices, keys, privilege, read_at)

    @property
    def told(self) -> dict[str, Any]:
        """The three by the specification's names."""
        return {name: getattr(self, name) for name in RIGHTS}


def known(member: Member) -> Rights | None:
    """What the mirror has, or None while nothing was ever read."""
    if member.rights is None:
        return None
    return Rights.of(member.rights, member.rights_read_at)


def fresh(connection: Connection, member_id: str, priority: Priority = Priority.PEOPLE) -> Rights:
    """One call (operation 5), within budget; the mirror learns it. Raises NotFound, BudgetExhausted, ServiceError."""
    asked_at = database_now()
    member = reading.read_member(connection, member_id, priority)
    return Rights.of({name: member.odd.get(name, _verbatim(getattr(member, name))) for name in RIGHTS}, asked_at)


def _verbatim(value: Any) -> Any:
    """A part of a member as it came: what could not be read stands where the service had put it."""
    if value is None or isinstance(value, dict):
        return value
    return {**value.model_dump(exclude_unset=True), **value.odd}
