"""Recognising a new member in the service's list, when the answer to its creation was lost.

What was created is known by its card or its code, if the body had one: a new member with that and all else is ours.
Name and group alone prove nothing when they are found (somebody else may have created a namesake); their absence does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from portal.mirror.folding import fold
from portal.mirror.models import Member
from portal.mirror.rows import Reader
from tenants.scope import current_tenant_id


@dataclass(frozen=True)
class Seen:
    """Members of a list that were not known before: those with the code or card, and those with name and group."""

    marked: list[Mapping[str, Any]]
    namesakes: list[Mapping[str, Any]]


def snapshot(body: Mapping[str, Any]) -> dict[str, Any]:
    """The ids of all members that could later be taken for this one."""
    alike = Q(name_key=fold(body["member_name"]), membergroup_id=body["membergroup_id"])
    if body.get("member_code"):
        alike |= Q(code_key=fold(body["member_code"]))
    if body.get("card_data"):
        alike |= Q(has_card=True, card_fingerprint=Reader(current_tenant_id()).card_fingerprint(body["card_data"]))
    return {"known": sorted(Member.objects.filter(alike).values_list("member_id", flat=True))}


def look(listed: Iterable[Mapping[str, Any]], body: Mapping[str, Any], known: Iterable[str]) -> Seen:
    """Which members of the service's list may be the one that `body` asked for."""
    before = set(known)
    marked, namesakes = [], []
    for item in listed:
        if str(item.get("member_id", "")) in before:
            continue
        if _same(item, body, "member_code") or _same(item, body, "card_data"):
            marked.append(item)
        elif _folded(item, "member_name") == _folded(body, "member_name") and _same(item, body, "membergroup_id"):
            namesakes.append(item)
    return Seen(marked, namesakes)


def is_surely(item: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Whether a marked member is the one asked for: everything that was sent is as it was sent."""
    names = ("member_name", "member_code", "card_data", "membergroup_id")
    return all(_folded(item, name) == _folded(body, name) for name in names if body.get(name))


def _same(item: Mapping[str, Any], body: Mapping[str, Any], name: str) -> bool:
    return bool(body.get(name)) and _folded(item, name) == _folded(body, name)


def _folded(values: Mapping[str, Any], name: str) -> str:
    return fold(str(values.get(name) or ""))
