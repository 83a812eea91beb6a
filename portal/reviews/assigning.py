"""Assign items to reviewers by group, by area, or evenly. All rights of one person go to one reviewer.

The rules are saved with the review, because rights that are loaded later also become items.
"""

import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tenants.models import Staff, User
from tenants.roles import TENANT_ROLES, Permission

Rules = Mapping[str, Any]


def rules_to_save(
    *, even: Sequence[int], areas: Mapping[str, int], groups: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Return the rules to save: `areas` and `groups` name a reviewer each; `even` share the rest."""
    return {"even": list(even), "areas": dict(areas), "groups": dict(groups or {})}


def reviewer_of(
    kept: Rules, *, member_id: str, area_id: str, group_id: str, excluded: Collection[str] = ()
) -> int | None:
    """Return the reviewer of an item by the review's rules. Rules for groups come before rules for areas.

    If that person is `excluded`, the next reviewer who may decide gets it. If there is none, it stays with that person.
    """
    named: int | None = kept.get("groups", {}).get(group_id) or kept.get("areas", {}).get(area_id)
    even: list[int] = kept.get("even", [])
    first = zlib.crc32(member_id.encode()) % len(even) if even else 0
    turn = [*([named] if named is not None else []), *even[first:], *even[:first]]
    return next((who for who in turn if str(who) not in excluded), turn[0] if turn else None)


def reviewers() -> list[User]:
    """Return the staff who may decide in reviews, by name."""
    may = [role.name for role in TENANT_ROLES if Permission.REVIEWS_DECIDE in role.permissions]
    staff = Staff.objects.filter(role__in=may, is_active=True, user__is_active=True).select_related("user")
    return sorted((each.user for each in staff), key=str)
