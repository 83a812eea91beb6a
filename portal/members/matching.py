"""Find a new member in the service's list when the answer to its creation was lost.

A new member with the same code or card, and all other values equal, is ours. Name and group alone prove nothing if a
member is found: another person may have created one with the same name. If none is found, it was not created.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from portal.domain.mirror.fields.members import CODE
from portal.domain.mirror.models import Member
from portal.domain.mirror.row_building import MemberRowBuilder
from portal.domain.mirror.text_folding import fold
from tenants.scope import current_tenant_id


@dataclass(frozen=True)
class Candidates:
    """New members that may be ours: those with the code or card, and those with only the same name and group."""

    with_code_or_card: list[Member]
    with_same_name: list[Member]


def candidates_before(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the IDs of all present members that could later be mistaken for the new one."""
    return {
        "known": sorted(
            Member.objects.filter(_code_or_card_matches(body) | _name_matches(body)).values_list("member_id", flat=True)
        )
    }


def find_candidates(body: Mapping[str, Any], known: Iterable[str]) -> Candidates:
    """Return new members of the mirror that may be the requested one. `known`: IDs that existed before the request."""
    fresh = Member.objects.filter(gone_at__isnull=True).exclude(member_id__in=list(known)).order_by("pk")
    marked = list(fresh.filter(_code_or_card_matches(body)))
    namesakes = fresh.filter(_name_matches(body)).exclude(pk__in=[member.pk for member in marked])
    return Candidates(marked, list(namesakes))


def has_sent_values(member: Member, body: Mapping[str, Any]) -> bool:
    """Check whether a candidate with the code or card has all the values that were sent."""
    return Member.objects.filter(_name_matches(body), *_identifiers(body), pk=member.pk).exists()


def _name_matches(body: Mapping[str, Any]) -> Q:
    return Q(name_key=fold(body["member_name"]), membergroup_id=body["membergroup_id"])


def _code_or_card_matches(body: Mapping[str, Any]) -> Q:
    """Return the condition for the code or the card of `body`. It matches no member if `body` has neither."""
    found = Q(pk__in=[])
    for mark in _identifiers(body):
        found |= mark
    return found


def _identifiers(body: Mapping[str, Any]) -> list[Q]:
    marks = []
    if body.get(CODE.name):
        marks.append(Q(code_key=fold(body[CODE.name])))
    if body.get("card_data"):
        fingerprint = MemberRowBuilder(current_tenant_id()).card_fingerprint(body["card_data"])
        marks.append(Q(has_card=True, card_fingerprint=fingerprint))
    return marks
