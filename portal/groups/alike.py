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
from portal.core.mirror.models import Group, Member
from portal.core.mirror.rights import want_first
from portal.core.rights import places, reading, words

# Members that are looked at, the first by name, and ways of writing rights that are compared; beyond, the page says so.
MOST_MEMBERS = 5000
MOST_VARIANTS = 200
SHOWN_VARIANTS = 5
SHOWN_MEMBERS = 5


@dataclass
class Variant:
    """Members of the group with the same rights: how many, the first of them by name, and the rights in words."""

    count: int
    rights: Mapping[str, Any]
    written: list[Any] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)


@dataclass(frozen=True)
class Alike:
    """`variants`, the commonest first, of the `known` among `looked_at` members; the oldest reading is of `since`."""

    variants: list[Variant]
    known: int
    looked_at: int
    more_members: bool
    since: datetime | None
    others: int = 0  # variants that are not shown
    main: str = ""  # the digest of the commonest
    everybody: bool = False  # nobody was left out: `looked_at` is how many there are

    @property
    def same(self) -> bool:
        return len(self.variants) == 1

    @property
    def mixed(self) -> bool:
        """No rights are those of most."""
        return bool(self.variants) and self.variants[0].count * 2 <= self.known

    @property
    def kinds(self) -> int:
        return len(self.variants) + self.others

    @property
    def unknown(self) -> int:
        return self.looked_at - self.known

    @property
    def deviating(self) -> int:
        return self.known - self.variants[0].count if self.variants else 0


def of(group: Group) -> Alike:
    """Two queries and one for the names of the places, however large the group is. Asks for what is not known."""
    members = _looked_at(group)
    written = members.order_by().values("rights").annotate(n=Count("pk"), since=Min("rights_read_at"))
    rows = list(written.order_by("-n")[: MOST_VARIANTS + 2])
    found = [row for row in rows if row["rights"] is not None][: MOST_VARIANTS + 1]
    totals = _counted(members, rows)
    together = _together(found)
    shown = list(together.values())[:SHOWN_VARIANTS]
    _named(members, shown)
    if totals["known"] < totals["all"]:
        want_first(members.filter(rights__isnull=True), 200)
    return Alike(
        variants=shown,
        known=totals["known"],
        looked_at=totals["all"],
        more_members=(group.member_count or 0) > totals["all"] == MOST_MEMBERS,
        everybody=(group.member_count or 0) <= MOST_MEMBERS,
        since=min((each["since"] for each in found if each["since"]), default=None),
        others=len(together) - len(shown),
        main=next(iter(together), ""),
    )


def _looked_at(group: Group) -> QuerySet[Member]:
    members = queries.in_groups(queries.members(), [group.membergroup_id]).order_by("name_key", "pk")
    if (group.member_count or 0) <= MOST_MEMBERS:
        return members
    first = members.values("pk")[:MOST_MEMBERS]
    return queries.members().filter(pk__in=first).order_by("name_key", "pk")


def _counted(members: QuerySet[Member], rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many there are, and of how many rights are known: added up, unless there are more ways than were read."""
    if len(rows) == MOST_VARIANTS + 2:
        return members.order_by().aggregate(all=Count("pk"), known=Count("pk", filter=Q(rights__isnull=False)))
    known = sum(row["n"] for row in rows if row["rights"] is not None)
    return {"all": sum(row["n"] for row in rows), "known": known}


def _together(found: Sequence[Mapping[str, Any]]) -> dict[str, Variant]:
    """By meaning, the commonest first."""
    together: dict[str, Variant] = {}
    for each in found:
        variant = together.setdefault(reading.digest(each["rights"]), Variant(0, each["rights"]))
        variant.count += each["n"]
        variant.written.append(each["rights"])
    return dict(sorted(together.items(), key=lambda pair: -pair[1].count))


def _named(members: QuerySet[Member], shown: list[Variant]) -> None:
    """Put rights into words, and name the first of those who deviate."""
    known = places.known() if shown else places.Places()
    for variant in shown:
        variant.lines = words.gathered(words.lines(variant.rights, known))
    rare = shown[1:]
    if not rare:
        return
    wanted = Q()
    for variant in rare:
        for written in variant.written[:MOST_VARIANTS]:
            wanted |= Q(rights=written)
    few = members.filter(wanted).defer(None).only("id", "tenant_id", "member_id", "member_name", "rights")
    by_digest = {reading.digest(variant.rights): variant for variant in rare}
    for member in few[: SHOWN_MEMBERS * 20]:
        found = by_digest.get(reading.digest(member.rights or {}))
        if found is not None and len(found.members) < SHOWN_MEMBERS:
            found.members.append(member)
