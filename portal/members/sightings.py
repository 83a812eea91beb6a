"""Recognising a new member in the service's list, when the answer to its creation was lost.

What was created is known by its card or its code, if the body had one: a new member with that and all else is ours.
Name and group alone prove nothing when they are found (somebody else may have created a namesake); their absence does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from portal.core.mirror.fields.members import CODE
from portal.core.mirror.folding import fold
from portal.core.mirror.models import Member
from portal.core.mirror.rows import MemberReader
from tenants.scope import current_tenant_id


@dataclass(frozen=True)
class Seen:
    """Members that were not known before: those with the code or card, and those with name and group alone."""

    marked: list[Member]
    namesakes: list[Member]


def snapshot(body: Mapping[str, Any]) -> dict[str, Any]:
    """The ids of all members that could later be taken for this one."""
    return {"known": sorted(Member.objects.filter(_marked(body) | _named(body)).values_list("member_id", flat=True))}


def look(body: Mapping[str, Any], known: Iterable[str]) -> Seen:
    """Which members of the mirror may be the one that `body` asked for."""
    fresh = Member.objects.filter(gone_at__isnull=True).exclude(member_id__in=list(known)).order_by("pk")
    marked = list(fresh.filter(_marked(body)))
    namesakes = fresh.filter(_named(body)).exclude(pk__in=[member.pk for member in marked])
    return Seen(marked, list(namesakes))


def is_surely(member: Member, body: Mapping[str, Any]) -> bool:
    """Whether a marked member is the one asked for: everything that was sent is as it was sent."""
    return Member.objects.filter(_named(body), *_marks(body), pk=member.pk).exists()


def _named(body: Mapping[str, Any]) -> Q:
    return Q(name_key=fold(body["member_name"]), membergroup_id=body["membergroup_id"])


def _marked(body: Mapping[str, Any]) -> Q:
    """Has the code or the card of `body`; nobody, when it has neither."""
    found = Q(pk__in=[])
    for mark in _marks(body):
        found |= mark
    return found


def _marks(body: Mapping[str, Any]) -> list[Q]:
    marks = []
    if body.get(CODE.name):
        marks.append(Q(code_key=fold(body[CODE.name])))
    if body.get("card_data"):
        fingerprint = MemberReader(current_tenant_id()).card_fingerprint(body["card_data"])
        marks.append(Q(has_card=True, card_fingerprint=fingerprint))
    return marks
