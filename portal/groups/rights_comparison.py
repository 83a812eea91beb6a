"""Comparison of the rights in a group: whether all members have the same, who differs, and how many are known.

The service stores no rights for groups, so the members' own rights are compared, as far as the mirror has read them.
Rights with different notation and the same meaning count as equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from portal.domain.people import queries
from portal.domain.people.models import Group, Member
from portal.domain.rights import member_rights, words
from portal.domain.sync.single_reads import prioritise_members

# The most members (first by name) and the most notations to compare; the page says so if there are more.
MOST_MEMBERS = 5000
MOST_VARIANTS = 200
SHOWN_VARIANTS = 5
SHOWN_MEMBERS = 5


@dataclass
class RightsVariant:
    """Members with the same rights: their number, the first of them by name, and the rights in words."""

    count: int
    rights: Mapping[str, Any]
    spellings: list[Any] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)


@dataclass(frozen=True)
class RightsComparison:
    """The result: `variants`, most frequent first, of `known_count` among `compared_count` members.

    `since` is the time of the oldest reading.
    """

    variants: list[RightsVariant]
    known_count: int
    compared_count: int
    has_more_members: bool
    since: datetime | None
    hidden_variants: int = 0  # variants that are not shown
    main_digest: str = ""  # the digest of the most frequent variant
    is_complete: bool = False  # True if `compared_count` covers the whole group

    @property
    def is_uniform(self) -> bool:
        return len(self.variants) == 1

    @property
    def has_no_majority(self) -> bool:
        """Return whether no variant is held by more than half of the members."""
        return bool(self.variants) and self.variants[0].count * 2 <= self.known_count

    @property
    def variant_count(self) -> int:
        return len(self.variants) + self.hidden_variants

    @property
    def unknown_count(self) -> int:
        return self.compared_count - self.known_count

    @property
    def deviating_count(self) -> int:
        return self.known_count - self.variants[0].count if self.variants else 0


def compare_rights(group: Group) -> RightsComparison:
    """Compare the rights of a group, in a few queries for any size. Also requests rights that are not loaded."""
    members = _compared_members(group)
    written = members.order_by().values("rights").annotate(n=Count("pk"), since=Min("rights_read_at"))
    rows = list(written.order_by("-n")[: MOST_VARIANTS + 2])
    found = [row for row in rows if row["rights"] is not None][: MOST_VARIANTS + 1]
    totals = _count_members(members, rows)
    together = _group_by_meaning(found)
    variants = list(together.values())[:SHOWN_VARIANTS]
    _describe_variants(members, variants)
    if totals["known"] < totals["all"]:
        prioritise_members(members.filter(rights__isnull=True), 200)
    return RightsComparison(
        variants=variants,
        known_count=totals["known"],
        compared_count=totals["all"],
        has_more_members=(group.member_count or 0) > totals["all"] == MOST_MEMBERS,
        is_complete=(group.member_count or 0) <= MOST_MEMBERS,
        since=min((each["since"] for each in found if each["since"]), default=None),
        hidden_variants=len(together) - len(variants),
        main_digest=next(iter(together), ""),
    )


def _compared_members(group: Group) -> QuerySet[Member]:
    members = queries.filter_by_groups(queries.members(), [group.membergroup_id]).order_by("name_key", "pk")
    if (group.member_count or 0) <= MOST_MEMBERS:
        return members
    first = members.values("pk")[:MOST_MEMBERS]
    return queries.members().filter(pk__in=first).order_by("name_key", "pk")


def _count_members(members: QuerySet[Member], rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of members and of known rights; counted only if there are more notations than were read."""
    if len(rows) == MOST_VARIANTS + 2:
        return members.order_by().aggregate(all=Count("pk"), known=Count("pk", filter=Q(rights__isnull=False)))
    known = sum(row["n"] for row in rows if row["rights"] is not None)
    return {"all": sum(row["n"] for row in rows), "known": known}


def _group_by_meaning(found: Sequence[Mapping[str, Any]]) -> dict[str, RightsVariant]:
    """Return the variants by digest, most frequent first."""
    together: dict[str, RightsVariant] = {}
    for each in found:
        variant = together.setdefault(member_rights.digest(each["rights"]), RightsVariant(0, each["rights"]))
        variant.count += each["n"]
        variant.spellings.append(each["rights"])
    return dict(sorted(together.items(), key=lambda pair: -pair[1].count))


def _describe_variants(members: QuerySet[Member], variants: list[RightsVariant]) -> None:
    """Add the rights in words, and the first members of each rarer variant."""
    known = words.load_place_names() if variants else words.PlaceNames()
    for variant in variants:
        variant.lines = words.group_by_time(words.rights_lines(variant.rights, known))
    rare = variants[1:]
    if not rare:
        return
    condition = Q()
    for variant in rare:
        for written in variant.spellings[:MOST_VARIANTS]:
            condition |= Q(rights=written)
    few = members.filter(condition).defer(None).only("id", "tenant_id", "member_id", "member_name", "rights")
    by_digest = {member_rights.digest(variant.rights): variant for variant in rare}
    for member in few[: SHOWN_MEMBERS * 20]:
        found = by_digest.get(member_rights.digest(member.rights or {}))
        if found is not None and len(found.members) < SHOWN_MEMBERS:
            found.members.append(member)
