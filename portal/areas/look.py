"""An area at a moment: who holds a right to it, and who may enter then, as conditions on the list of members.

The number of members does not matter to what a page costs. PostgreSQL cannot guess how many hold what, and would join
all of them to show fifty; the tallies know. Where few hold it, they are taken from the index and sorted; where many do,
the list is walked in its order with an index look-up for each row, and soon full.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.lookups import IsNull

from accessapi.permissions import Holidays
from portal.areas import rolls
from portal.areas.models import EVERYWHERE, Grant
from portal.core.mirror import queries
from portal.core.mirror.models import NEVER, Area, Member

_SHOWS = Q(has_card=True) | Q(has_qr=True) | Q(has_face=True)
# So many are sorted as quickly as they are found one after the other among 200,000.
FEW = 2_000


@dataclass(frozen=True)
class Look:
    """An area at a moment: the passes held for it, and which of them admit."""

    area: Area
    at: datetime
    told: rolls.Area
    now: rolls.Now
    gathers: bool = False  # takes all holders first, also where they are many

    @classmethod
    def of(cls, area: Area, at: datetime, holidays: Holidays) -> "Look":
        told = rolls.of_area(area.area_id)
        return cls(area, at, told, rolls.at(at, area.area_id, told.passes, holidays))

    @property
    def passes(self) -> Sequence[rolls.Held]:
        return self.told.passes

    @property
    def roll(self) -> rolls.Roll:
        return self.told.roll

    def gathered(self) -> "Look":
        """The same for counting, which asks for all that match and for no order."""
        return replace(self, gathers=True)

    def grants(self) -> Q:
        """Members that hold something for the area, or for all areas."""
        return self._holds(self.passes)

    def by_hours(self, members: QuerySet[Member], values: Sequence[str]) -> QuerySet[Member]:
        """Those of the members that hold any of this here: always, schedule, everywhere or unknown."""
        wanted = [[held for held in self.passes if _is(held, value)] for value in values]
        if len(wanted) == 1:
            return self._narrowed(members, wanted[0])
        return members.filter(reduce(or_, (self._holds(held) for held in wanted)))

    def by_entry(self, members: QuerySet[Member], values: Sequence[str]) -> QuerySet[Member]:
        """Those of the members of whom any of this is true at the moment: yes, no or unknown."""
        if values == ["yes"]:
            return self._narrowed(members.filter(self._ready()), self._held(self.now.admit))
        entering, doubtful = self.entering(), self.doubtful()
        meaning = {"yes": entering, "unknown": doubtful, "no": ~entering & ~doubtful}
        return members.filter(reduce(or_, (meaning[value] for value in values)))

    def holders(self) -> QuerySet[Member]:
        """Members that hold anything for the area, each with what (`held_id`)."""
        return self.noted(self._narrowed(queries.members(), self.passes))

    def noted(self, members: QuerySet[Member]) -> QuerySet[Member]:
        """The same members, each with the pass that is held (`held_id`)."""
        rows = self._grants(self.passes).filter(member=OuterRef("pk")).order_by("area_id", "held_id")
        return members.annotate(held_id=Subquery(rows.values("held_id")[:1]))

    def inside(self) -> Q:
        """Members whose use period covers the moment."""
        started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=self.at)
        return Q(use_end_key__gte=int(self.at.timestamp()), use_end_key__lte=NEVER) & started

    def entering(self) -> Q:
        """Members who may enter at the moment: period, something to show, and a pass that admits."""
        return self._ready() & self._holds(self._held(self.now.admit))

    def doubtful(self) -> Q:
        """Members of whom it cannot be told."""
        return self._ready() & self._holds(self._held(self.now.doubtful)) & ~self._holds(self._held(self.now.admit))

    def state(self, member: Any) -> str:
        """yes, unknown, or why not, for a member of this area's lists: period, nothing to show, or the right itself."""
        begun = member.use_date_start is None or member.use_date_start <= self.at
        if not begun or not int(self.at.timestamp()) <= member.use_end_key <= NEVER:
            return "period"
        if not (member.has_card or member.has_qr or member.has_face):
            return "credential"
        if member.held_id in self.now.admit:
            return "yes"
        return "unknown" if member.held_id in self.now.doubtful else "no"

    def _ready(self) -> Q:
        return self.inside() & _SHOWS

    def _held(self, held_ids: set[int]) -> list[rolls.Held]:
        return [held for held in self.passes if held.id in held_ids]

    def _grants(self, held: Sequence[rolls.Held]) -> QuerySet[Grant]:
        """The grants of these passes. Where all are meant, none is named: the index finds them by the area alone."""
        if held is self.passes:
            return Grant.objects.filter(area_id__in=[self.area.area_id, EVERYWHERE])
        areas = {EVERYWHERE if each.everywhere else self.area.area_id for each in held}
        return Grant.objects.filter(area_id__in=sorted(areas), held_id__in=sorted({each.id for each in held}))

    def _holds(self, held: Sequence[rolls.Held]) -> Q:
        """Members that hold one of these, as a condition that may be negated or one of several."""
        grants = self._grants(held)
        if self._gathers(held):
            return Q(pk__in=grants.values("member_id"))
        # A value that is compared: asked whether one exists, PostgreSQL would join them all.
        return Q(IsNull(Subquery(grants.filter(member=OuterRef("pk")).values("held_id")[:1]), False))

    def _narrowed(self, members: QuerySet[Member], held: Sequence[rolls.Held]) -> QuerySet[Member]:
        """Those of the members that hold one of these."""
        if self._gathers(held):
            return queries.among(members, self._grants(held).values("member_id"))
        return members.filter(self._holds(held))

    def _gathers(self, held: Sequence[rolls.Held]) -> bool:
        """Whether holders are found first: that is quicker for as few as the tallies say there are."""
        return self.gathers or sum(each.members for each in held) <= FEW


def _is(held: rolls.Held, value: str) -> bool:
    if value == "everywhere":
        return held.everywhere and held.kind == rolls.Kind.ALWAYS
    return held.kind == value and (value == "unknown" or not held.everywhere)
