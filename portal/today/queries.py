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

from portal.core.mirror.text_folding import search_terms
from portal.core.ui.times import local
from portal.core.visits import queries as visits
from portal.core.visits.days import Day
from portal.core.visits.models import Visit
from portal.core.visits.queries import MAY_CHECK_IN, PRESENT, ContainsText
from portal.core.visits.visit_status import VisitStatus, with_status

if TYPE_CHECKING:
    from portal.core.visits.visit_status import Classified

# Elsewhere than on the day itself, a search looks this far.
_AROUND = timedelta(days=8)


def visits_of_day(day: Day, now: datetime) -> "Classified":
    """The visits whose hours touch the day; today also whoever is still here from before, or left today."""
    touching = Q(use_date_start__lt=day.end, use_date_end__gte=day.start)
    if day.is_today:
        touching |= PRESENT | Q(left_at__gte=day.start)
    return with_status(Visit.objects.filter(touching), now)


def count_by_standing(visits: "Classified") -> dict[VisitStatus, int]:
    """How many visits there are of each standing, in one query."""
    rows = visits.order_by().values_list("standing").annotate(Count("pk"))
    return {VisitStatus.__members__[word.upper()]: number for word, number in rows}


def filter_by_text(visits: "Classified", text: str) -> "Classified":
    """Those whose name or host holds every word of `text`, whatever their widths, cases and kana, or whose company
    holds it as it was typed.
    """
    named = Q()
    for word in search_terms(text):
        named &= Q(ContainsText("name_key", word)) | Q(ContainsText("host_key", word)) | Q(company__icontains=word)
    return visits.filter(named | Q(company__icontains=text.strip())) if named else visits


def visits_around(day: Day, text: str, now: datetime, limit: int = 8) -> list[Visit]:
    """Visits of the days before and after that a search finds, the next ones first."""
    near = Visit.objects.filter(use_date_end__gte=day.start - _AROUND, use_date_start__lt=day.end + _AROUND)
    elsewhere = near.exclude(use_date_start__lt=day.end, use_date_end__gte=day.start).filter(erased_at__isnull=True)
    found = filter_by_text(with_status(elsewhere, now), text)
    return list(found.order_by("-use_date_start", "pk")[:limit]) if search_terms(text) else []


def awaited_by_party(visits: Iterable[Visit], now: datetime) -> dict[uuid.UUID | None, int]:
    """How many of each of these visits' parties have not arrived, in one query; none where nobody came as a party."""
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
    """`here`: marked as arrived and not as left. `unsure`: their code was used, the desk says they are not here.
    `gone_count`: of those here, how many went out by a door that leads out, and were not marked as left.
    """

    at: datetime
    here: list[Visit]
    unsure: list[Visit]

    @property
    def gone_count(self) -> int:
        return sum(visit.suggested_leave_at is not None for visit in self.here)


def load_building(now: datetime, order: str = "host") -> GuestsInside:
    """Everybody, in two queries: a list for an emergency has no pages."""
    return GuestsInside(now, _rows(visits.present_visits(), order), _rows(visits.used_but_not_checked_in(now), order))


def _rows(visits: QuerySet[Visit], order: str) -> list[Visit]:
    return list(visits.only(*_FIELDS).order_by(*ORDERS.get(order, ORDERS["host"])))


def order_choices() -> list[tuple[str, str]]:
    """The orders, with their names."""
    return [("host", _("host")), ("name", pgettext("sort", "name")), ("time", _("arrival"))]


def guest_lines(found: GuestsInside) -> Iterator[list[str]]:
    """The list as a file: heads, then a line for each guest."""
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
    """Return a moment as files have it."""
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""
