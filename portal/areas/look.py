"""An area at a moment: who holds a right to it, and who may enter then, as conditions on the list of members.

The number of members does not matter to what a page costs. PostgreSQL cannot guess how many hold what, and would join
all of them to show fifty; the tallies know. Where few hold it, they are taken from the index and sorted; where many do,
the list is walked in its order with an index look-up for each row, and soon full.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.lookups import IsNull

from accessapi.permissions import Holidays
from portal.areas import rolls
from portal.areas.models import EVERYWHERE, Grant
from portal.mirror import queries
from portal.mirror.models import NEVER, Area, Member

_SHOWS = Q(has_card=True) | Q(has_qr=True) | Q(has_face=True)
# So many are sorted as quickly as they are found one after the other among 200,000.
FEW = 2_000
# More than any area has: with a limit, PostgreSQL takes the holders first, whatever it guesses.
_ALL = 10_000_000


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
        return self._members_of(Grant.objects.filter(area_id__in=[self.area.area_id, EVERYWHERE]), self.passes)

    def holds(self, value: str) -> Q:
        """Members by what they hold here: always, schedule, everywhere or unknown."""
        if value == "everywhere":
            return self._holding([held for held in self.passes if held.everywhere and held.kind == rolls.Kind.ALWAYS])
        anywhere = value == "unknown"
        return self._holding([held for held in self.passes if held.kind == value and (anywhere or not held.everywhere)])

    def holders(self) -> QuerySet[Member]:
        """Members that hold anything for the area, each with what (`held_id`)."""
        return self.noted(queries.members().filter(self.grants()))

    def noted(self, members: QuerySet[Member]) -> QuerySet[Member]:
        """The same members, each with the pass that is held (`held_id`)."""
        rows = Grant.objects.filter(member=OuterRef("pk"), area_id__in=[self.area.area_id, EVERYWHERE])
        rows = rows.order_by("area_id", "held_id")
        return members.annotate(held_id=Subquery(rows.values("held_id")[:1]))

    def inside(self) -> Q:
        """Members whose use period covers the moment."""
        started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=self.at)
        return Q(use_end_key__gte=int(self.at.timestamp()), use_end_key__lte=NEVER) & started

    def entering(self) -> Q:
        """Members who may enter at the moment: period, something to show, and a pass that admits."""
        return self.inside() & _SHOWS & self._of(self.now.admit)

    def doubtful(self) -> Q:
        """Members of whom it cannot be told."""
        return self.inside() & _SHOWS & self._of(self.now.doubtful) & ~self._of(self.now.admit)

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

    def _of(self, held_ids: set[int]) -> Q:
        return self._holding([held for held in self.passes if held.id in held_ids])

    def _holding(self, wanted: Sequence[rolls.Held]) -> Q:
        areas = {EVERYWHERE if held.everywhere else self.area.area_id for held in wanted}
        ids = {held.id for held in wanted}
        return self._members_of(Grant.objects.filter(area_id__in=sorted(areas), held_id__in=sorted(ids)), wanted)

    def _members_of(self, grants: QuerySet[Grant], held: Sequence[rolls.Held]) -> Q:
        """Members that hold one of the grants, found by what is quicker for as many as the tallies say there are."""
        if self.gathers or sum(each.members for each in held) <= FEW:
            return Q(pk__in=grants.values("member_id")[:_ALL])
        # A value that is compared: asked whether one exists, PostgreSQL would join them all.
        return Q(IsNull(Subquery(grants.filter(member=OuterRef("pk")).values("held_id")[:1]), False))
