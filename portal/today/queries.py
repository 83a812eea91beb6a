"""Whom the desk's day is about, and how many of each there are."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, F, Q, QuerySet

from portal.core.mirror.folding import terms
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


def present() -> QuerySet[Visit]:
    """Whoever is in the building, as far as the desk knows."""
    return Visit.objects.filter(PRESENT)


def used_unmarked(now: datetime) -> QuerySet[Visit]:
    """Guests whose code was used lately though the desk has them as not arrived, or as left before that use."""
    lately = Visit.objects.filter(last_use_at__gte=now - timedelta(days=1), suggested_leave_at__isnull=True)
    return lately.filter(Q(arrived_at__isnull=True) | Q(left_at__isnull=False, left_at__lt=F("last_use_at")))


def awaited_of(visits: Iterable[Visit], now: datetime) -> dict[uuid.UUID | None, int]:
    """How many of each of these visits' parties have not arrived, in one query; none where nobody came as a party."""
    parties = {visit.party for visit in visits if visit.party is not None}
    if not parties:
        return {}
    rows = classified(Visit.objects.filter(party__in=parties, erased_at__isnull=True), now)
    return dict(rows.filter(standing__in=MAY_ARRIVE).order_by().values_list("party").annotate(Count("pk")))
