"""Queries for the desk: visits of a day, their numbers, and guests in the building.

The last one is used in an evacuation. It reads only the portal's database, so that it works while the service is down.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.times import local
from portal.domain.mirror.text_folding import search_terms
from portal.domain.visits import queries as visits
from portal.domain.visits.days import Day
from portal.domain.visits.models import Visit
from portal.domain.visits.queries import PRESENT, ContainsText
from portal.domain.visits.visit_status import MAY_CHECK_IN, VisitStatus, with_status

if TYPE_CHECKING:
    from portal.domain.visits.visit_status import Classified

# How far a search looks before and after the day.
_AROUND = timedelta(days=8)


def visits_of_day(day: Day, now: datetime) -> "Classified":
    """Return visits during the day. For today, also guests who are still here from before, or who left today."""
    touching = Q(use_date_start__lt=day.end, use_date_end__gte=day.start)
    if day.is_today:
        touching |= PRESENT | Q(left_at__gte=day.start)
    return with_status(Visit.objects.filter(touching), now)


def count_by_standing(visits: "Classified") -> dict[VisitStatus, int]:
    """Count visits by status, in one query."""
    rows = visits.order_by().values_list("standing").annotate(Count("pk"))
    return {VisitStatus.__members__[word.upper()]: number for word, number in rows}


def filter_by_text(visits: "Classified", text: str) -> "Classified":
    """Return visits whose name, host or company has every word of `text`; or whose company has `text` as it is.

    Names and hosts are compared without case, character width and kind of kana.
    """
    named = Q()
    for word in search_terms(text):
        named &= Q(ContainsText("name_key", word)) | Q(ContainsText("host_key", word)) | Q(company__icontains=word)
    return visits.filter(named | Q(company__icontains=text.strip())) if named else visits


def visits_around(day: Day, text: str, now: datetime, limit: int = 8) -> list[Visit]:
    """Return visits on the days before and after that match a search, the latest start first."""
    near = Visit.objects.filter(use_date_end__gte=day.start - _AROUND, use_date_start__lt=day.end + _AROUND)
    elsewhere = near.exclude(use_date_start__lt=day.end, use_date_end__gte=day.start).filter(erased_at__isnull=True)
    found = filter_by_text(with_status(elsewhere, now), text)
    return list(found.order_by("-use_date_start", "pk")[:limit]) if search_terms(text) else []


def awaited_by_party(visits: Iterable[Visit], now: datetime) -> dict[uuid.UUID | None, int]:
    """Return how many guests of each party have not arrived, by party, in one query."""
    parties = {visit.party for visit in visits if visit.party is not None}
    if not parties:
        return {}
    rows = with_status(Visit.objects.filter(party__in=parties, erased_at__isnull=True), now)
    return dict(rows.filter(standing__in=MAY_CHECK_IN).order_by().values_list("party").annotate(Count("pk")))


ORDERS = {"host": ("host_key", "name_key", "pk"), "name": ("name_key", "pk"), "time": ("arrived_at", "pk")}
_FIELDS = (
    "tenant_id", "guest_id", "guest_name", "company", "host_name", "host_key", "arrived_at", "arrived_by", "left_at",
    "use_date_start", "use_date_end", "last_use_at", "last_use_place", "first_use_place", "suggested_leave_at",
    "erased_at",
)  # fmt: skip


@dataclass(frozen=True)
class GuestsInside:
    """`here`: guests who arrived and did not leave. `unsure`: their code was used, but they are not checked in.

    `gone_count`: guests in `here` who used an exit but were not checked out.
    """

    at: datetime
    here: list[Visit]
    unsure: list[Visit]

    @property
    def gone_count(self) -> int:
        return sum(visit.suggested_leave_at is not None for visit in self.here)


def load_building(now: datetime, order: str = "host") -> GuestsInside:
    """Return all guests in the building, in two queries. A list for an emergency is not split into pages."""
    return GuestsInside(now, _rows(visits.present_visits(), order), _rows(visits.used_but_not_checked_in(now), order))


def _rows(visits: QuerySet[Visit], order: str) -> list[Visit]:
    return list(visits.only(*_FIELDS).order_by(*ORDERS.get(order, ORDERS["host"])))


def order_choices() -> list[tuple[str, str]]:
    """Return the sort orders as choices."""
    return [("host", _("host")), ("name", pgettext("sort", "name")), ("time", _("arrival"))]


def guest_lines(found: GuestsInside) -> Iterator[list[str]]:
    """Yield the lines of a file: the headings, then a line for each guest."""
    yield [
        _("Guest"), _("Company"), _("Host"), _("Arrived"), _("Last seen"), _("Where"), _("Code valid until"),
        _("State"),
    ]  # fmt: skip
    for state, found_so in ((_("on site"), found.here), (_("code used, not checked in"), found.unsure)):
        for visit in found_so:
            yield [
                str(visit), visit.company, visit.host_name, moment_text(visit.arrived_at),
                moment_text(visit.last_use_at),
                visit.last_use_place, moment_text(visit.use_date_end), state,
            ]  # fmt: skip


def moment_text(at: datetime | None) -> str:
    """Return a moment as text for files."""
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""
