"""The index of members' rights by area, and counts from it, fast for any number of members.

The index is updated in the same transaction in which the mirror saves rights. Numbers are added up from the tallies.
PostgreSQL cannot estimate how many members hold a pass, and would join all of them to show fifty. The tallies show
which query is faster. Few holders are found by index and then sorted. For many holders, the list is read in its order
with an index look-up for each row.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection as database
from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import IsNull

from accessapi.permissions import AreaPlace, Holidays, always, decide_place, never, normalise_devices
from accessapi.permissions.passes import sort_key
from portal.areas.models import EVERYWHERE, KNOWN, Grant, Pass, Tally
from portal.domain.people import queries
from portal.domain.people.models import NEVER, Member
from portal.domain.places.models import Area
from tenants.models import Tenant
from tenants.scope import current_tenant_id, tenant_scope

Kind = Pass.Kind
CountRow = tuple[str, str, int]


@dataclass
class AccessCount:
    """The number of members with a pass for one area, by kind. `everywhere` counts those with access to all areas."""

    always: int = 0
    schedule: int = 0
    never: int = 0
    unknown: int = 0
    everywhere: int = 0

    @property
    def with_access(self) -> int:
        """Return the number of members who have access at some time."""
        return self.always + self.schedule + self.everywhere

    @property
    def total(self) -> int:
        return self.with_access + self.never + self.unknown


@dataclass(frozen=True)
class HeldPass:
    """One pass held for an area, the number of its holders, and whether it is for all areas."""

    id: int
    kind: str
    body: Any
    everywhere: bool
    members: int


@dataclass(frozen=True)
class PassesAtMoment:
    """The IDs of passes that give access at a moment, and of passes for which this is unknown."""

    admitting: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class AccessCounts:
    """The counts of every area, and the number of members whose rights are known."""

    areas: dict[str, AccessCount]
    members_known: int


@dataclass(frozen=True)
class AreaAccess:
    """The counts of one area, its different passes, and the number of members whose rights are known."""

    count: AccessCount
    passes: list[HeldPass]
    members_known: int


def count_all(area_ids: Iterable[str]) -> AccessCounts:
    """Return the counts of these areas, in two queries for any number of areas and members."""
    rows = Tally.objects.values_list("area_id", "held__kind").annotate(n=Sum("members"))
    counts = _without_gone(rows, _gone_grants())
    everywhere = counts.get(EVERYWHERE, {})
    rolls = {area_id: _count_of(counts.get(area_id, {}), everywhere) for area_id in area_ids}
    return AccessCounts(rolls, sum(counts.get(KNOWN, {}).values()))


def count_area(area_id: str) -> AreaAccess:
    """Return the counts and passes of one area, in two queries."""
    ids = [area_id, EVERYWHERE, KNOWN]
    # A pass has one kind and one body, so Min returns it without grouping by a long text.
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
    """Return which passes give access to the area at a moment."""
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
    """Return grants of members who are gone from the service, until a complete list confirms it."""
    # With the tenant as a condition, the query can use the short index of members who are gone.
    return Grant.objects.filter(member__gone_at__isnull=False, member__tenant_id=current_tenant_id())


def _without_gone(tallied: Iterable[CountRow], gone: QuerySet[Grant]) -> dict[str, dict[str, int]]:
    """Return the number of members by area and kind of pass, without members who are gone."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for area_id, kind, n in tallied:
        counts[area_id][kind] += n
    for area_id, kind, n in gone.values_list("area_id", "held__kind").annotate(n=Count("pk")):
        counts[area_id][kind] -= n
    return counts


def _count_of(counts: Mapping[str, int], everywhere: Mapping[str, int]) -> AccessCount:
    return AccessCount(
        always=counts.get(Kind.ALWAYS, 0),
        schedule=counts.get(Kind.SCHEDULE, 0),
        never=counts.get(Kind.NEVER, 0),
        unknown=counts.get(Kind.UNKNOWN, 0) + everywhere.get(Kind.UNKNOWN, 0),
        everywhere=everywhere.get(Kind.ALWAYS, 0),
    )


_HAS_CREDENTIAL = Q(has_card=True) | Q(has_qr=True) | Q(has_face=True)
# Up to this number, sorting is as fast as finding the holders one by one among 200,000 members.
FEW_HOLDERS = 2_000


@dataclass(frozen=True)
class AreaAccessAt:
    """An area at a moment: the passes held for it, and which of them give access."""

    area: Area
    at: datetime
    access: AreaAccess
    active: PassesAtMoment
    holders_first: bool = False  # finds all holders first, even if there are many

    @classmethod
    def of(cls, area: Area, at: datetime, holidays: Holidays) -> "AreaAccessAt":
        access = count_area(area.area_id)
        return cls(area, at, access, passes_at(at, area.area_id, access.passes, holidays))

    @property
    def passes(self) -> Sequence[HeldPass]:
        return self.access.passes

    @property
    def count(self) -> AccessCount:
        return self.access.count

    def for_counting(self) -> "AreaAccessAt":
        """Return the same for counting, which needs all matches and no order."""
        return replace(self, holders_first=True)

    def is_holder(self) -> Q:
        """Return the condition for members with a pass for the area or for all areas."""
        return self._holds_any(self.passes)

    def filter_by_hours(self, members: QuerySet[Member], values: Sequence[str]) -> QuerySet[Member]:
        """Return the members with a pass of these kinds: always, schedule, everywhere or unknown."""
        pass_lists = [[held for held in self.passes if _is_of_hours(held, value)] for value in values]
        if len(pass_lists) == 1:
            return self._filter_holders(members, pass_lists[0])
        return members.filter(reduce(or_, (self._holds_any(held) for held in pass_lists)))

    def filter_by_access(self, members: QuerySet[Member], values: Sequence[str]) -> QuerySet[Member]:
        """Return the members whose access at the moment is one of these values: yes, no or unknown."""
        if values == ["yes"]:
            return self._filter_holders(members.filter(self._is_usable()), self._passes_of(self.active.admitting))
        entering, doubtful = self.has_access(), self.is_unknown()
        meaning = {"yes": entering, "unknown": doubtful, "no": ~entering & ~doubtful}
        return members.filter(reduce(or_, (meaning[value] for value in values)))

    def holders(self) -> QuerySet[Member]:
        """Return the members with a pass for the area, each with its ID (`held_id`)."""
        return self.with_held_pass(self._filter_holders(queries.members(), self.passes))

    def with_held_pass(self, members: QuerySet[Member]) -> QuerySet[Member]:
        """Return the same members, each with the ID of the pass it holds (`held_id`)."""
        rows = self._grants_of(self.passes).filter(member=OuterRef("pk")).order_by("area_id", "held_id")
        return members.annotate(held_id=Subquery(rows.values("held_id")[:1]))

    def is_in_period(self) -> Q:
        """Return the condition for members whose use period covers the moment."""
        started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=self.at)
        return Q(use_end_key__gte=int(self.at.timestamp()), use_end_key__lte=NEVER) & started

    def has_access(self) -> Q:
        """Return the condition for members with access: use period, credential and a pass that gives access."""
        return self._is_usable() & self._holds_any(self._passes_of(self.active.admitting))

    def is_unknown(self) -> Q:
        """Return the condition for members whose access is unknown."""
        return (
            self._is_usable()
            & self._holds_any(self._passes_of(self.active.unknown))
            & ~self._holds_any(self._passes_of(self.active.admitting))
        )

    def access_state(self, member: Any) -> str:
        """Return "yes", "unknown" or the cause of no access: "period", "credential" or "no" (the right itself)."""
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
        """Return the grants of these passes.

        For all passes, none is named in the query, because the index finds the grants by area alone.
        """
        if held is self.passes:
            return Grant.objects.filter(area_id__in=[self.area.area_id, EVERYWHERE])
        areas = {EVERYWHERE if each.everywhere else self.area.area_id for each in held}
        return Grant.objects.filter(area_id__in=sorted(areas), held_id__in=sorted({each.id for each in held}))

    def _holds_any(self, held: Sequence[HeldPass]) -> Q:
        """Return the condition for holders of one of these passes. It can be negated or combined with others."""
        grants = self._grants_of(held)
        if self._are_few(held):
            return Q(pk__in=grants.values("member_id"))
        # Comparing a value prevents a join: for EXISTS, PostgreSQL would join all grants.
        return Q(IsNull(Subquery(grants.filter(member=OuterRef("pk")).values("held_id")[:1]), False))

    def _filter_holders(self, members: QuerySet[Member], held: Sequence[HeldPass]) -> QuerySet[Member]:
        """Return the members that hold one of these passes."""
        if self._are_few(held):
            return queries.members_with_ids(members, self._grants_of(held).values("member_id"))
        return members.filter(self._holds_any(held))

    def _are_few(self, held: Sequence[HeldPass]) -> bool:
        """Return whether to find the holders first, which is faster for few of them."""
        return self.holders_first or sum(each.members for each in held) <= FEW_HOLDERS


def _is_of_hours(held: HeldPass, value: str) -> bool:
    if value == "everywhere":
        return held.everywhere and held.kind == Kind.ALWAYS
    return held.kind == value and (value == "unknown" or not held.everywhere)


_BATCH = 5000


def update_grants(tenant: Tenant, members: Iterable[Member]) -> None:
    """Update the grants of members whose rights were just saved. Unchanged grants are not written."""
    passes = {member.pk: list(passes_by_area(member.rights)) for member in members if member.rights is not None}
    if not passes:
        return
    with tenant_scope(tenant):
        ids = _pass_ids(tenant, {pass_digest(body): body for each in passes.values() for _area, body in each})
        expected = {(pk, area, ids[pass_digest(body)]) for pk, each in passes.items() for area, body in each}
        rows = Grant.objects.filter(member_id__in=passes).values_list("member_id", "area_id", "held_id", "pk")
        existing = {(member, area, held): pk for member, area, held, pk in rows}
        outdated = [pk for key, pk in existing.items() if key not in expected]
        if outdated:
            Grant.objects.filter(pk__in=outdated).delete()
        fresh = [
            Grant(tenant=tenant, member_id=m, area_id=a, held_id=h) for m, a, h in sorted(expected - existing.keys())
        ]
        Grant.objects.bulk_create(fresh, ignore_conflicts=True, batch_size=_BATCH)


def passes_by_area(rights: Any) -> Iterator[tuple[str, Any]]:
    """Yield (area ID, pass) for each area in the rights; EVERYWHERE as the ID for all areas, and KNOWN always."""
    yield KNOWN, never()
    devices = rights.get("devices_pass") if isinstance(rights, dict) else None
    normal = normalise_devices(devices)
    mode = normal.get("default_mode")
    if mode == "deny_all":
        return
    if mode == "allow_all":
        yield EVERYWHERE, always()
    elif mode == "option" and isinstance(normal.get("areas_list"), list):
        seen = set()
        for entry in normal["areas_list"]:
            area = entry.get("area_id") if isinstance(entry, dict) else None
            if isinstance(area, str) and area and (key := (area, sort_key(entry.get("pass")))) not in seen:
                seen.add(key)
                yield area, entry.get("pass")
    else:
        yield EVERYWHERE, {"default_mode": mode}


def pass_kind(body: Any) -> Pass.Kind:
    """Return the kind of a pass, regardless of the time."""
    effect = body.get("effect") if isinstance(body, dict) else None
    if effect == "allow_all":
        return Pass.Kind.ALWAYS
    if effect == "deny_all":
        return Pass.Kind.NEVER
    if effect == "allow" and isinstance(body.get("schedule"), list):
        return Pass.Kind.SCHEDULE
    return Pass.Kind.UNKNOWN


def pass_digest(body: Any) -> str:
    """Return a digest that is equal for passes with the same content."""
    return hashlib.sha256(sort_key(body).encode()).hexdigest()[:32]


def compact_tallies(tenant: Tenant) -> None:
    """Merge the tallies. Unused passes stay, because another process may be about to use them."""
    with tenant_scope(tenant), database.cursor() as cursor:
        cursor.execute(_COMPACT, {"tenant": tenant.pk})


def _pass_ids(tenant: Tenant, bodies: dict[str, Any]) -> dict[str, int]:
    rows = Pass.objects.filter(digest__in=bodies)
    known = dict(rows.values_list("digest", "pk"))
    if fresh := bodies.keys() - known.keys():
        new = [
            Pass(tenant=tenant, digest=digest, body=bodies[digest], kind=pass_kind(bodies[digest])) for digest in fresh
        ]
        Pass.objects.bulk_create(sorted(new, key=lambda one: one.digest), ignore_conflicts=True)
        known = dict(rows.all().values_list("digest", "pk"))
    return known


_COMPACT = """
WITH taken AS (DELETE FROM areas_tally WHERE tenant_id = %(tenant)s RETURNING area_id, held_id, members)
INSERT INTO areas_tally (tenant_id, area_id, held_id, members)
SELECT %(tenant)s, area_id, held_id, sum(members) FROM taken GROUP BY area_id, held_id HAVING sum(members) <> 0
"""
