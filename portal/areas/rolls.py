"""How many may enter an area, and by what: added up from the tallies, whatever the number of members."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, QuerySet, Sum, TextField
from django.db.models.functions import Cast

from accessapi.permissions import AreaPlace, Holidays, decide_place
from portal.areas.models import EVERYWHERE, KNOWN, Grant, Pass, Tally
from tenants.scope import current_tenant_id

Kind = Pass.Kind
Counted = tuple[str, str, int]


@dataclass
class Roll:
    """Members that hold something for one area, by what it is. `everywhere`: of those, all areas."""

    always: int = 0
    schedule: int = 0
    never: int = 0
    unknown: int = 0
    everywhere: int = 0

    @property
    def may_enter(self) -> int:
        """Whoever may enter at some time."""
        return self.always + self.schedule + self.everywhere

    @property
    def total(self) -> int:
        return self.may_enter + self.never + self.unknown


@dataclass(frozen=True)
class Held:
    """One pass as it is held for an area: by how many, and whether it comes with a right to all areas."""

    id: int
    kind: str
    body: Any
    everywhere: bool
    members: int


@dataclass(frozen=True)
class Now:
    """Passes that admit at a moment, and those of which it cannot be told."""

    admit: set[int] = field(default_factory=set)
    doubtful: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Rolls:
    """Every area's roll, and of how many members the rights are known."""

    areas: dict[str, Roll]
    known: int


@dataclass(frozen=True)
class Area:
    """One area's roll, the different passes held for it, and of how many members the rights are known."""

    roll: Roll
    passes: list[Held]
    known: int


def of_all(area_ids: Iterable[str]) -> Rolls:
    """Two queries, whatever the number of areas and members."""
    rows = Tally.objects.values_list("area_id", "held__kind").annotate(n=Sum("members"))
    counts = _without_gone(rows, _gone())
    everywhere = counts.get(EVERYWHERE, {})
    rolls = {area_id: _roll(counts.get(area_id, {}), everywhere) for area_id in area_ids}
    return Rolls(rolls, sum(counts.get(KNOWN, {}).values()))


def of_area(area_id: str) -> Area:
    """The same for one area, in two queries."""
    ids = [area_id, EVERYWHERE, KNOWN]
    # A pass has one kind and one body: the least of them is that, and nothing is grouped by a long text.
    rows = Tally.objects.filter(area_id__in=ids).values("area_id", "held_id").annotate(
        n=Sum("members"), kind=Min("held__kind"), text=Min(Cast("held__body", TextField()))
    )  # fmt: skip
    found = [row for row in rows if row["n"] > 0]
    counts = _without_gone(((row["area_id"], row["kind"], row["n"]) for row in found), _gone().filter(area_id__in=ids))
    passes = [
        Held(row["held_id"], row["kind"], json.loads(row["text"]), row["area_id"] == EVERYWHERE, row["n"])
        for row in found
        if row["area_id"] != KNOWN
    ]
    passes.sort(key=lambda one: (-one.members, one.id))
    roll = _roll(counts.get(area_id, {}), counts.get(EVERYWHERE, {}))
    return Area(roll, passes, sum(counts.get(KNOWN, {}).values()))


def at(moment: datetime, area_id: str, passes: Iterable[Held], holidays: Holidays) -> Now:
    """Which passes admit to the area at a moment."""
    now = Now()
    for each in passes:
        rights = {"default_mode": "option", "areas_list": [{"area_id": area_id, "pass": each.body}]}
        allowed = decide_place(rights, AreaPlace(area_id), moment, holidays).allowed
        if allowed:
            now.admit.add(each.id)
        elif allowed is None:
            now.doubtful.add(each.id)
    return now


def _gone() -> QuerySet[Grant]:
    """What members hold that the service no longer knows and that no complete list has confirmed yet."""
    # The tenant named once more lets the short index of those who are gone serve it.
    return Grant.objects.filter(member__gone_at__isnull=False, member__tenant_id=current_tenant_id())


def _without_gone(tallied: Iterable[Counted], gone: QuerySet[Grant]) -> dict[str, dict[str, int]]:
    """Members by area and kind of pass, without those who are gone."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for area_id, kind, n in tallied:
        counts[area_id][kind] += n
    for area_id, kind, n in gone.values_list("area_id", "held__kind").annotate(n=Count("pk")):
        counts[area_id][kind] -= n
    return counts


def _roll(here: Mapping[str, int], everywhere: Mapping[str, int]) -> Roll:
    return Roll(
        always=here.get(Kind.ALWAYS, 0),
        schedule=here.get(Kind.SCHEDULE, 0),
        never=here.get(Kind.NEVER, 0),
        unknown=here.get(Kind.UNKNOWN, 0) + everywhere.get(Kind.UNKNOWN, 0),
        everywhere=everywhere.get(Kind.ALWAYS, 0),
    )
