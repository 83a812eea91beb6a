"""A group's rights at a glance: do all have the same, who deviates, and of how many is anything known.

The service ties no rights to a group; what is compared are the members' own, as far as single reads have told the
mirror. Rights that are written differently and mean the same count as the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from portal.core.mirror import queries
from portal.core.mirror.background_reads import prioritise_members
from portal.core.mirror.models import Group, Member
from portal.core.rights import member_rights, places, words

# Members that are looked at, the first by name, and ways of writing rights that are compared; beyond, the page says so.
MOST_MEMBERS = 5000
MOST_VARIANTS = 200
SHOWN_VARIANTS = 5
SHOWN_MEMBERS = 5


@dataclass
class RightsVariant:
    """Members of the group with the same rights: how many, the first of them by name, and the rights in words."""

    count: int
    rights: Mapping[str, Any]
    spellings: list[Any] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)


@dataclass(frozen=True)
class RightsComparison:
    """`variants`, the commonest first, of the `known` among `compared_count` members; the oldest reading is of
    `since`."""

    variants: list[RightsVariant]
    known_count: int
    compared_count: int
    has_more_members: bool
    since: datetime | None
    hidden_variants: int = 0  # variants that are not shown
    main_digest: str = ""  # the digest of the commonest
    is_complete: bool = False  # nobody was left out: `compared_count` is how many there are

    @property
    def is_uniform(self) -> bool:
        return len(self.variants) == 1

    @property
    def has_no_majority(self) -> bool:
        """No rights are those of most."""
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
    """Two queries and one for the names of the places, however large the group is. Asks for what is not known."""
    members = _compared_members(group)
    written = members.order_by().values("rights").annotate(n=Count("pk"), since=Min("rights_read_at"))
    rows = list(written.order_by("-n")[: MOST_VARIANTS + 2])
    found = [row for row in rows if row["rights"] is not None][: MOST_VARIANTS + 1]
    totals = _count_members(members, rows)
    together = _group_by_meaning(found)
    shown = list(together.values())[:SHOWN_VARIANTS]
    _describe_variants(members, shown)
    if totals["known"] < totals["all"]:
        prioritise_members(members.filter(rights__isnull=True), 200)
    return RightsComparison(
        variants=shown,
        known_count=totals["known"],
        compared_count=totals["all"],
        has_more_members=(group.member_count or 0) > totals["all"] == MOST_MEMBERS,
        is_complete=(group.member_count or 0) <= MOST_MEMBERS,
        since=min((each["since"] for each in found if each["since"]), default=None),
        hidden_variants=len(together) - len(shown),
        main_digest=next(iter(together), ""),
    )


def _compared_members(group: Group) -> QuerySet[Member]:
    members = queries.filter_by_groups(queries.members(), [group.membergroup_id]).order_by("name_key", "pk")
    if (group.member_count or 0) <= MOST_MEMBERS:
        return members
    first = members.values("pk")[:MOST_MEMBERS]
    return queries.members().filter(pk__in=first).order_by("name_key", "pk")


def _count_members(members: QuerySet[Member], rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many there are, and of how many rights are known: added up, unless there are more ways than were read."""
    if len(rows) == MOST_VARIANTS + 2:
        return members.order_by().aggregate(all=Count("pk"), known=Count("pk", filter=Q(rights__isnull=False)))
    known = sum(row["n"] for row in rows if row["rights"] is not None)
    return {"all": sum(row["n"] for row in rows), "known": known}


def _group_by_meaning(found: Sequence[Mapping[str, Any]]) -> dict[str, RightsVariant]:
    """By meaning, the commonest first."""
    together: dict[str, RightsVariant] = {}
    for each in found:
        variant = together.setdefault(member_rights.digest(each["rights"]), RightsVariant(0, each["rights"]))
        variant.count += each["n"]
        variant.spellings.append(each["rights"])
    return dict(sorted(together.items(), key=lambda pair: -pair[1].count))


def _describe_variants(members: QuerySet[Member], shown: list[RightsVariant]) -> None:
    """Put rights into words, and name the first of those who deviate."""
    known = places.load_place_names() if shown else places.PlaceNames()
    for variant in shown:
        variant.lines = words.group_by_time(words.rights_lines(variant.rights, known))
    rare = shown[1:]
    if not rare:
        return
    wanted = Q()
    for variant in rare:
        for written in variant.spellings[:MOST_VARIANTS]:
            wanted |= Q(rights=written)
    few = members.filter(wanted).defer(None).only("id", "tenant_id", "member_id", "member_name", "rights")
    by_digest = {member_rights.digest(variant.rights): variant for variant in rare}
    for member in few[: SHOWN_MEMBERS * 20]:
        found = by_digest.get(member_rights.digest(member.rights or {}))
        if found is not None and len(found.members) < SHOWN_MEMBERS:
            found.members.append(member)
