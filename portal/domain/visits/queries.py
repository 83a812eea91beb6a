"""Queries of the desk: visits, their guests and codes in the mirror, and the settings of the desk."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from portal.base.ui.url_lookup import RowLookup, get_row_or_404
from portal.domain.people.models import Guest
from portal.domain.people.queries import contains_folded
from portal.domain.people.text_folding import search_words
from portal.domain.visits.models import DeskSettings, Preset, Stage, Visit

PRESENT = Q(arrived_at__isnull=False, left_at__isnull=True)
# Deactivated, but not confirmed by the service: the code may still open doors.
UNCONFIRMED = Q(must_end_at__isnull=False, ended_confirmed_at__isnull=True, gone_at__isnull=True)
_WITH = ("by", "preset", "cut_by", "cut_session", "cut_intent__by", "revive_intent", "intent__by")
# Built once: planning so many joins takes longer than the other queries of a guest's page.
_by_guest = RowLookup(lambda: Visit.objects.select_related(*_WITH), guest_id="")
_by_number = RowLookup(lambda: Visit.objects.select_related(*_WITH), pk=0)


def find_by_guest_name(text: str) -> QuerySet[Visit]:
    """Return the visits whose guest's name contains every word of a text, latest first; none without a word."""
    words, found = search_words(text), Visit.objects.filter(erased_at__isnull=True).exclude(stage=Stage.NOT_ISSUED)
    for word in words:
        found = found.filter(contains_folded("name_key", word))
    return found.order_by("-use_date_end", "pk") if words else found.none()


def present_visits() -> QuerySet[Visit]:
    """Return the visits of guests who are in the building, as far as the desk knows."""
    return Visit.objects.filter(PRESENT)


def used_but_not_checked_in(now: datetime) -> QuerySet[Visit]:
    """Return visits whose code was used lately although the guest has not arrived, or left before that use."""
    recent = Visit.objects.filter(last_use_at__gte=now - timedelta(days=1), suggested_leave_at__isnull=True)
    return recent.filter(Q(arrived_at__isnull=True) | Q(left_at__isnull=False, left_at__lt=F("last_use_at")))


def presets() -> list[Preset]:
    """Return the presets in the tenant's order."""
    return list(Preset.objects.order_by("position", "pk"))


def default_preset(presets: Sequence[Preset]) -> Preset | None:
    """Return the default preset, or the first one if none is the default."""
    return next((preset for preset in presets if preset.is_default), None) or next(iter(presets), None)


def desk_settings() -> DeskSettings:
    """Return the settings of this desk, or the defaults."""
    return DeskSettings.objects.first() or DeskSettings()


def guest_of(visit: Visit) -> Guest | None:
    """Return the service's guest from the mirror."""
    return Guest.objects.filter(guest_id=visit.guest_id).first() if visit.guest_id is not None else None


def code_data_of(visit: Visit) -> str:
    """Return the data of the visit's code from the mirror; empty if unknown. It is a secret: only draw it.

    For many visits, call `code_data_by_visit` once and store the result on each visit as `code_data`.
    """
    loaded = visit.__dict__.get("code_data")
    return code_data_by_visit([visit]).get(visit.pk, "") if loaded is None else str(loaded)


def code_data_by_visit(visits: Iterable[Visit]) -> dict[int, str]:
    """Return the codes' data of many visits by the visits' primary keys, in one query."""
    keys = {visit.guest_id: visit.pk for visit in visits if visit.guest_id and visit.gone_at is None}
    guests = Guest.objects.filter(guest_id__in=list(keys), gone_at=None, qrcode_data__isnull=False)
    found = guests.only("id", "tenant_id", "guest_id", "qrcode_data")
    return {keys[guest.guest_id]: guest.qrcode_data or "" for guest in found}


def get_visit(guest_id: str) -> Visit:
    """Return the visit of a guest of the service. Raises 404, also for a guest of another tenant."""
    return _by_guest.get_or_404(guest_id=guest_id)


def get_visit_row(visit_id: int) -> Visit:
    """Return the visit with this number, even if the service has not returned its guest yet."""
    return _by_number.get_or_404(pk=visit_id)


def get_preset(preset_id: int) -> Preset:
    return get_row_or_404(Preset.objects.all(), pk=preset_id)
