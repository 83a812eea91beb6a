"""An area at a moment: who holds a right to it, and who may enter then, as conditions on the list of members.

The number of members does not matter to what a page costs: each condition is an index look-up for each row shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from accessapi.permissions import Holidays
from portal.areas import rolls
from portal.areas.models import EVERYWHERE, Grant
from portal.mirror import queries
from portal.mirror.models import NEVER, Area, Member

_SHOWS = Q(has_card=True) | Q(has_qr=True) | Q(has_face=True)


@dataclass(frozen=True)
class Look:
    """An area at a moment: the passes held for it, and which of them admit."""

    area: Area
    at: datetime
    told: rolls.Area
    now: rolls.Now

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

    def grants(self, **narrowed: Any) -> Exists:
        """Whether a member holds something for the area, or for all areas."""
        return Exists(_grants([self.area.area_id, EVERYWHERE], **narrowed))

    def holds(self, value: str) -> Q:
        """Members by what they hold here: always, schedule, everywhere or unknown."""
        if value == "everywhere":
            return Q(Exists(_grants([EVERYWHERE], held__kind=rolls.Kind.ALWAYS)))
        ids = [held.id for held in self.passes if held.kind == value]
        areas = [self.area.area_id, EVERYWHERE] if value == "unknown" else [self.area.area_id]
        return Q(Exists(_grants(areas, held_id__in=ids)))

    def holders(self) -> QuerySet[Member]:
        """Members that hold anything for the area, each with what (`held_id`)."""
        return self.noted(queries.members().filter(self.grants()))

    def noted(self, members: QuerySet[Member]) -> QuerySet[Member]:
        """The same members, each with the pass that is held (`held_id`)."""
        rows = _grants([self.area.area_id, EVERYWHERE]).order_by("area_id", "held_id")
        return members.annotate(held_id=Subquery(rows.values("held_id")[:1]))

    def inside(self) -> Q:
        """Members whose use period covers the moment."""
        started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=self.at)
        return Q(use_end_key__gte=int(self.at.timestamp()), use_end_key__lte=NEVER) & started

    def entering(self) -> Q:
        """Members who may enter at the moment: period, something to show, and a pass that admits."""
        return self.inside() & _SHOWS & Q(self.grants(held_id__in=self.now.admit))

    def doubtful(self) -> Q:
        """Members of whom it cannot be told."""
        held = Q(self.grants(held_id__in=self.now.doubtful))
        return self.inside() & _SHOWS & held & ~Q(self.grants(held_id__in=self.now.admit))

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


def _grants(area_ids: list[str], **narrowed: Any) -> QuerySet[Grant]:
    return Grant.objects.filter(member=OuterRef("pk"), area_id__in=area_ids, **narrowed)
