"""What stands on a badge or a slip: the same facts on screen, on paper and in a PDF."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import Http404
from segno import QRCode

from portal.codes.hours import Hours, hours
from portal.core.ui import drawing
from portal.core.visits.models import Stage, Visit
from portal.core.visits.queries import data_of_all
from tenants.models import Tenant

MOST_AT_ONCE = 500
# Whoever meets its bearer knows at a glance, in either language.
KIND = "GUEST 来訪者"


@dataclass(frozen=True)
class Badge:
    """One guest on paper. `code` is None where it is not known, or no longer works: the badge has none then."""

    building: str
    name: str
    company: str
    host: str
    hours: Hours
    code: QRCode | None

    @property
    def kind(self) -> str:
        return KIND

    @property
    def picture(self) -> str:
        return drawing.svg(self.code, self.name) if self.code else ""

    @property
    def is_dense(self) -> bool:
        """Whether the code needs more room than a short one."""
        return self.code is not None and drawing.side(self.code) > 65


def badges(tenant: Tenant, visits: Sequence[Visit]) -> list[Badge]:
    """The badges of these visits, in their order, with one query for all codes."""
    data = data_of_all(visits)
    return [_badge(tenant, visit, data.get(visit.pk, "")) for visit in visits]


def party(name: uuid.UUID) -> list[Visit]:
    """The issued visits of a party that can still come, by name. 404 when there are none."""
    return _to_come(Visit.objects.filter(party=name))


def of_visits(keys: Iterable[int]) -> list[Visit]:
    """Those of these visits that can still come, by name; at most MOST_AT_ONCE of them. 404 when there are none."""
    return _to_come(Visit.objects.filter(pk__in=list(keys)))


def _to_come(visits: QuerySet[Visit]) -> list[Visit]:
    rows = visits.filter(stage=Stage.ISSUED, gone_at=None, erased_at=None)
    found = list(rows.order_by("name_key", "pk")[:MOST_AT_ONCE])
    if not found:
        raise Http404
    return found


def _badge(tenant: Tenant, visit: Visit, data: str) -> Badge:
    at = hours(visit)
    return Badge(
        building=tenant.name,
        name=str(visit),
        company=visit.company,
        host=visit.host_name,
        hours=at,
        code=None if at.is_over else symbol_of(data),
    )


def symbol_of(data: str) -> QRCode | None:
    """The code to draw, or None where the data is not known or cannot be drawn."""
    try:
        return drawing.symbol(data) if data else None
    except drawing.NotDrawable:
        return None
