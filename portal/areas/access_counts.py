"""How many may enter an area, by what, and who may at a moment, whatever the number of members.

Numbers are added up from the tallies. PostgreSQL cannot guess how many hold what, and would join all of them to show
fifty members; the tallies know. Where few hold it, they are taken from the index and sorted; where many do, the list is
walked in its order with an index look-up for each row, and soon full.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import IsNull

from accessapi.permissions import AreaPlace, Holidays, decide_place
from portal.areas.models import EVERYWHERE, KNOWN, Grant, Pass, Tally
from portal.core.mirror import queries
from portal.core.mirror.models import NEVER, Area, Member
from tenants.scope import current_tenant_id

Kind = Pass.Kind
CountRow = tuple[str, str, int]


@dataclass
class AccessCount:
    """Members that hold something for one area, by what it is. `everywhere`: of those, all areas."""

    always: int = 0
    schedule: int = 0
    never: int = 0
    unknown: int = 0
    everywhere: int = 0

    @property
    def with_access(self) -> int:
        """Whoever may enter at some time."""
        return self.always + self.schedule + self.everywhere

    @property
    def total(self) -> int:
        return self.with_access + self.never + self.unknown


@dataclass(frozen=True)
class HeldPass:
    """One pass as it is held for an area: by how many, and whether it comes with a right to all areas."""

    id: int
    kind: str
    body: Any
    everywhere: bool
    members: int


@dataclass(frozen=True)
class PassesAtMoment:
    """Passes that admit at a moment, and those of which it cannot be told."""

    admitting: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class AccessCounts:
    """Every area's roll, and of how many members the rights are known."""

    areas: dict[str, AccessCount]
    members_known: int


@dataclass(frozen=True)
class AreaAccess:
    """One area's roll, the different passes held for it, and of how many members the rights are known."""

    count: AccessCount
    passes: list[HeldPass]
    members_known: int


def count_all(area_ids: Iterable[str]) -> AccessCounts:
    """Two queries, whatever the number of areas and members."""
    rows = Tally.objects.values_list("area_id", "held__kind").annotate(n=Sum("members"))
    counts = _without_gone(rows, _gone_grants())
    everywhere = counts.get(EVERYWHERE, {})
    rolls = {area_id: _count_of(counts.get(area_id, {}), everywhere) for area_id in area_ids}
    return AccessCounts(rolls, sum(counts.get(KNOWN, {}).values()))


def count_area(area_id: str) -> AreaAccess:
    """The same for one area, in two queries."""
    ids = [area_id, EVERYWHERE, KNOWN]
    # A pass has one kind and one body: the least of them is that, and nothing is grouped by a long text.
    rows = Tally.objects.filter(area_id__in=ids).values("area_id", "held_id").annotate(
        n=Sum("members"), kind=Min("held__kind"), text=Min(Cast("held__body", TextField()))
    )  # fmt: skip
    found = [row for row in rows if row["n"] > 0]
    counts = _without_gone(
        ((row["area_id"], row["kind"], row["n"]) for row in found), _gone_grants().filter(area_id__in=ids)
    )
    passes = [
        HeldPass(row["held_id"], row["kind"], json.loads(row["text"]), row["area_id"] == EVERYWHERE, row["n"])
        for row in found
        if row["area_id"] != KNOWN
    ]
    passes.sort(key=lambda one: (-one.members, one.id))
    roll = _count_of(counts.get(area_id, {}), counts.get(EVERYWHERE, {}))
    return AreaAccess(roll, passes, sum(counts.get(KNOWN, {}).values()))


def passes_at(moment: datetime, area_id: str, passes: Iterable[HeldPass], holidays: Holidays) -> PassesAtMoment:
    """Which passes admit to the area at a moment."""
    now = PassesAtMoment()
    for each in passes:
        rights = {"default_mode": "option", "areas_list": [{"area_id": area_id, "pass": each.body}]}
        allowed = decide_place(rights, AreaPlace(area_id), moment, holidays).allowed
        if allowed:
            now.admitting.add(each.id)
        elif allowed is None:
            now.unknown.add(each.id)
    return now


def _gone_grants() -> QuerySet[Grant]:
    """What members hold that the service no longer knows and that no complete list has confirmed yet."""
    # The tenant named once more lets the short index of those who are gone serve it.
    return Grant.objects.filter(member__gone_at__isnull=False, member__tenant_id=current_tenant_id())


def _without_gone(tallied: Iterable[CountRow], gone: QuerySet[Grant]) -> dict[str, dict[str, int]]:
    """Members by area and kind of pass, without those who are gone."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for area_id, kind, n in tallied:
        counts[area_id][kind] += n
    for area_id, kind, n in gone.values_list("area_id", "held__kind").annotate(n=Count("pk")):
        counts[area_id][kind] -= n
    return counts


def _count_of(here: Mapping[str, int], everywhere: Mapping[str, int]) -> AccessCount:
    return AccessCount(
        always=here.get(Kind.ALWAYS, 0),
        schedule=here.get(Kind.SCHEDULE, 0),
        never=here.get(Kind.NEVER, 0),
        unknown=here.get(Kind.UNKNOWN, 0) + everywhere.get(Kind.UNKNOWN, 0),
        everywhere=everywhere.get(Kind.ALWAYS, 0),
    )


_HAS_CREDENTIAL = Q(has_card=True) | Q(has_qr=True) | Q(has_face=True)
# So many are sorted as quickly as they are found one after the other among 200,000.
FEW_HOLDERS = 2_000


@dataclass(frozen=True)
class AreaAccessAt:
    """An area at a moment: the passes held for it, and which of them admit."""

    area: Area
    at: datetime
    access: AreaAccess
    active: PassesAtMoment
    holders_first: bool = False  # takes all holders first, also where they are many

    @classmethod
    def of(cls, area: Area, at: datetime, holidays: Holidays) -> "AreaAccessAt":
        told = count_area(area.area_id)
        return cls(area, at, told, passes_at(at, area.area_id, told.passes, holidays))

    @property
    def passes(self) -> Sequence[HeldPass]:
        return self.access.passes

    @property
    def count(self) -> AccessCount:
        return self.access.count

    def for_counting(self) -> "AreaAccessAt":
        """The same for counting, which asks for all that match and for no order."""
        return replace(self, holders_first=True)

    def is_holder(self) -> Q:
        """Members that hold something for the area, or for all areas."""
        return self._holds_any(self.passes)

    def filter_by_hours(self, members: QuerySet[Member], values: Sequence[str]) -> QuerySet[Member]:
        """Those of the members that hold any of this here: always, schedule, everywhere or unknown."""
        wanted = [[held for held in self.passes if _is_of_hours(held, value)] for value in values]
        if len(wanted) == 1:
            return self._filter_holders(members, wanted[0])
        return members.filter(reduce(or_, (self._holds_any(held) for held in wanted)))

    def filter_by_access(self, members: QuerySet[Member], values: Sequence[str]) -> QuerySet[Member]:
        """Those of the members of whom any of this is true at the moment: yes, no or unknown."""
        if values == ["yes"]:
            return self._filter_holders(members.filter(self._is_usable()), self._passes_of(self.active.admitting))
        entering, doubtful = self.has_access(), self.is_unknown()
        meaning = {"yes": entering, "unknown": doubtful, "no": ~entering & ~doubtful}
        return members.filter(reduce(or_, (meaning[value] for value in values)))

    def holders(self) -> QuerySet[Member]:
        """Members that hold anything for the area, each with what (`held_id`)."""
        return self.with_held_pass(self._filter_holders(queries.members(), self.passes))

    def with_held_pass(self, members: QuerySet[Member]) -> QuerySet[Member]:
        """The same members, each with the pass that is held (`held_id`)."""
        rows = self._grants_of(self.passes).filter(member=OuterRef("pk")).order_by("area_id", "held_id")
        return members.annotate(held_id=Subquery(rows.values("held_id")[:1]))

    def is_in_period(self) -> Q:
        """Members whose use period covers the moment."""
        started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=self.at)
        return Q(use_end_key__gte=int(self.at.timestamp()), use_end_key__lte=NEVER) & started

    def has_access(self) -> Q:
        """Members who may enter at the moment: period, something to show, and a pass that admits."""
        return self._is_usable() & self._holds_any(self._passes_of(self.active.admitting))

    def is_unknown(self) -> Q:
        """Members of whom it cannot be told."""
        return (
            self._is_usable()
            & self._holds_any(self._passes_of(self.active.unknown))
            & ~self._holds_any(self._passes_of(self.active.admitting))
        )

    def access_state(self, member: Any) -> str:
        """yes, unknown, or why not, for a member of this area's lists: period, nothing to show, or the right itself."""
        begun = member.use_date_start is None or member.use_date_start <= self.at
        if not begun or not int(self.at.timestamp()) <= member.use_end_key <= NEVER:
            return "period"
        if not (member.has_card or member.has_qr or member.has_face):
            return "credential"
        if member.held_id in self.active.admitting:
            return "yes"
        return "unknown" if member.held_id in self.active.unknown else "no"

    def _is_usable(self) -> Q:
        return self.is_in_period() & _HAS_CREDENTIAL

    def _passes_of(self, held_ids: set[int]) -> list[HeldPass]:
        return [held for held in self.passes if held.id in held_ids]

    def _grants_of(self, held: Sequence[HeldPass]) -> QuerySet[Grant]:
        """The grants of these passes. Where all are meant, none is named: the index finds them by the area alone."""
        if held is self.passes:
            return Grant.objects.filter(area_id__in=[self.area.area_id, EVERYWHERE])
        areas = {EVERYWHERE if each.everywhere else self.area.area_id for each in held}
        return Grant.objects.filter(area_id__in=sorted(areas), held_id__in=sorted({each.id for each in held}))

    def _holds_any(self, held: Sequence[HeldPass]) -> Q:
        """Members that hold one of these, as a condition that may be negated or one of several."""
        grants = self._grants_of(held)
        if self._are_few(held):
            return Q(pk__in=grants.values("member_id"))
        # A value that is compared: asked whether one exists, PostgreSQL would join them all.
        return Q(IsNull(Subquery(grants.filter(member=OuterRef("pk")).values("held_id")[:1]), False))

    def _filter_holders(self, members: QuerySet[Member], held: Sequence[HeldPass]) -> QuerySet[Member]:
        """Those of the members that hold one of these."""
        if self._are_few(held):
            return queries.members_with_ids(members, self._grants_of(held).values("member_id"))
        return members.filter(self._holds_any(held))

    def _are_few(self, held: Sequence[HeldPass]) -> bool:
        """Whether holders are found first: that is quicker for as few as the tallies say there are."""
        return self.holders_first or sum(each.members for each in held) <= FEW_HOLDERS


def _is_of_hours(held: HeldPass, value: str) -> bool:
    if value == "everywhere":
        return held.everywhere and held.kind == Kind.ALWAYS
    return held.kind == value and (value == "unknown" or not held.everywhere)
