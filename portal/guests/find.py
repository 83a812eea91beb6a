"""Guests in the palette (Ctrl-K)."""

from collections.abc import Iterator
from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.core.mirror.folding import terms
from portal.core.ui import palette
from portal.core.ui.palette import Hit
from portal.core.ui.times import local
from portal.core.visits.models import Stage, Visit
from portal.core.visits.queries import Holds
from portal.guests.banners import address
from tenants.roles import Permission

# Whom the desk may mean: guests of these days. Older visits stand in the month.
_DAYS = timedelta(days=8)


def guests(request: HttpRequest, text: str) -> Iterator[Hit]:
    """Guests of these days whose name or host holds every word of `text`, those who are here or next to come first."""
    words = terms(text)
    if not words or not request.access.can(Permission.GUESTS_VIEW):  # type: ignore[attr-defined]
        return
    now = timezone.now()
    found = Visit.objects.filter(use_date_end__gt=now - _DAYS, erased_at__isnull=True).exclude(stage=Stage.NOT_ISSUED)
    for word in words:
        found = found.filter(Holds("name_key", word))
    for visit in found.only(
        "tenant_id", "guest_id", "guest_name", "company", "use_date_start", "use_date_end"
    ).order_by("-use_date_end", "pk")[: palette.MOST]:
        hours = f"{local(visit.use_date_start):%m-%d %H:%M} – {local(visit.use_date_end):%m-%d %H:%M}"
        yield Hit(str(visit), address(request, visit), "qrcode", " · ".join(filter(None, (visit.company, hours))))


def register() -> None:
    palette.register("guests", _("Guests"), guests)
