"""Whom the desk's day is about, how many of each there are, and who is in the building.

The last is for an evacuation: it reads the portal's own records alone, so that it works whatever is down.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.core.mirror.folding import terms
from portal.core.ui.times import local
from portal.core.visits import queries as visits
from portal.core.visits.days import Day
from portal.core.visits.models import Visit
from portal.core.visits.queries import MAY_ARRIVE, PRESENT, Holds
from portal.core.visits.standing import Standing, classified

if TYPE_CHECKING:
    from portal.core.visits.standing import Classified

# Elsewhere than on the day itself, a search looks this far.
_AROUND = timedelta(days=8)


def of_day(day: Day, now: datetime) -> "Classified":
    """The visits whose hours touch the day; today also whoever is still here from before, or left today."""
    touching = Q(use_date_start__lt=day.end, use_date_end__gte=day.start)
    if day.is_today:
        touching |= PRESENT | Q(left_at__gte=day.start)
    return classified(Visit.objects.filter(touching), now)


def counts(visits: "Classified") -> dict[Standing, int]:
    """How many visits there are of each standing, in one query."""
    rows = visits.order_by().values_list("standing").annotate(Count("pk"))
    return {Standing.__members__[word.upper()]: number for word, number in rows}


def matching(visits: "Classified", text: str) -> "Classified":
    """Those whose name or host holds every word of `text`, whatever their widths, cases and kana, or whose company
    holds it as it was typed.
    """
    named = Q()
    for word in terms(text):
        named &= Q(Holds("name_key", word)) | Q(Holds("host_key", word)) | Q(company__icontains=word)
    return visits.filter(named | Q(company__icontains=text.strip())) if named else visits


def around(day: Day, text: str, now: datetime, most: int = 8) -> list[Visit]:
    """Visits of the days before and after that a search finds, the next ones first."""
    near = Visit.objects.filter(use_date_end__gte=day.start - _AROUND, use_date_start__lt=day.end + _AROUND)
    elsewhere = near.exclude(use_date_start__lt=day.end, use_date_end__gte=day.start).filter(erased_at__isnull=True)
    found = matching(classified(elsewhere, now), text)
    return list(found.order_by("-use_date_start", "pk")[:most]) if terms(text) else []


def awaited_of(visits: Iterable[Visit], now: datetime) -> dict[uuid.UUID | None, int]:
    """How many of each of these visits' parties have not arrived, in one query; none where nobody came as a party."""
    parties = {visit.party for visit in visits if visit.party is not None}
    if not parties:
        return {}
    rows = classified(Visit.objects.filter(party__in=parties, erased_at__isnull=True), now)
    return dict(rows.filter(standing__in=MAY_ARRIVE).order_by().values_list("party").annotate(Count("pk")))


ORDERS = {"host": ("host_key", "name_key", "pk"), "name": ("name_key", "pk"), "time": ("arrived_at", "pk")}
_FIELDS = (
    "tenant_id", "guest_id", "guest_name", "company", "host_name", "host_key", "arrived_at", "arrived_by", "left_at",
    "use_date_start", "use_date_end", "last_use_at", "last_use_place", "first_use_place", "suggested_leave_at",
    "erased_at",
)  # fmt: skip


@dataclass(frozen=True)
class Building:
    """`here`: marked as arrived and not as left. `unsure`: their code was used, the desk says they are not here.
    `gone`: of those here, how many went out by a door that leads out, and were not marked as left.
    """

    at: datetime
    here: list[Visit]
    unsure: list[Visit]

    @property
    def gone(self) -> int:
        return sum(visit.suggested_leave_at is not None for visit in self.here)


def building(now: datetime, order: str = "host") -> Building:
    """Everybody, in two queries: a list for an emergency has no pages."""
    return Building(now, _rows(visits.present(), order), _rows(visits.used_unmarked(now), order))


def _rows(visits: QuerySet[Visit], order: str) -> list[Visit]:
    return list(visits.only(*_FIELDS).order_by(*ORDERS.get(order, ORDERS["host"])))


def orders() -> list[tuple[str, str]]:
    """The orders, with their names."""
    return [("host", _("host")), ("name", pgettext("sort", "name")), ("time", _("arrival"))]


def lines_of_building(found: Building) -> Iterator[list[str]]:
    """The list as a file: heads, then a line for each guest."""
    yield [
        _("Guest"), _("Company"), _("Host"), _("Arrived"), _("Last seen"), _("Where"), _("Code valid until"),
        _("State"),
    ]  # fmt: skip
    for state, found_so in ((_("on site"), found.here), (_("code used, not checked in"), found.unsure)):
        for visit in found_so:
            yield [
                str(visit), visit.company, visit.host_name, moment(visit.arrived_at), moment(visit.last_use_at),
                visit.last_use_place, moment(visit.use_date_end), state,
            ]  # fmt: skip


def moment(at: datetime | None) -> str:
    """Return a moment as files have it."""
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""
