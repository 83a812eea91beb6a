"""What the desk asks of visits: their guests and codes as the mirror has them, and how the desk is set up."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import BooleanField, F, Func, Q, QuerySet, Value

from portal.core.mirror.models import Guest
from portal.core.mirror.text_folding import search_terms
from portal.core.ui.url_lookup import RowLookup, get_row_or_404
from portal.core.visits.models import DeskSettings, Preset, Stage, Visit
from portal.core.visits.visit_status import VisitStatus

MAY_CHECK_IN = (VisitStatus.EXPECTED, VisitStatus.NOT_COME, VisitStatus.ASKED)
PRESENT = Q(arrived_at__isnull=False, left_at__isnull=True)
# Deactivated, and the service has not confirmed it: the code may still open doors.
UNCONFIRMED = Q(must_end_at__isnull=False, ended_confirmed_at__isnull=True, gone_at__isnull=True)
_WITH = ("by", "preset", "cut_by", "cut_session", "cut_intent__by", "revive_intent", "intent__by")
# Planning so many joins takes longer than all else a guest's page asks.
_by_guest = RowLookup(lambda: Visit.objects.select_related(*_WITH), guest_id="")
_by_number = RowLookup(lambda: Visit.objects.select_related(*_WITH), pk=0)


class ContainsText(Func):
    """Whether a column holds a text. Not LIKE: its guessed selectivity makes PostgreSQL read the whole table first."""

    template = "strpos(%(expressions)s) > 0"
    output_field = BooleanField()

    def __init__(self, column: str, text: str) -> None:
        super().__init__(F(column), Value(text))


def find_by_guest_name(text: str) -> QuerySet[Visit]:
    """Return the visits whose guest's name holds every word of a text, the latest first; none without a word."""
    words, found = search_terms(text), Visit.objects.filter(erased_at__isnull=True).exclude(stage=Stage.NOT_ISSUED)
    for word in words:
        found = found.filter(ContainsText("name_key", word))
    return found.order_by("-use_date_end", "pk") if words else found.none()


def present_visits() -> QuerySet[Visit]:
    """Whoever is in the building, as far as the desk knows."""
    return Visit.objects.filter(PRESENT)


def used_but_not_checked_in(now: datetime) -> QuerySet[Visit]:
    """Guests whose code was used lately though the desk has them as not arrived, or as left before that use."""
    lately = Visit.objects.filter(last_use_at__gte=now - timedelta(days=1), suggested_leave_at__isnull=True)
    return lately.filter(Q(arrived_at__isnull=True) | Q(left_at__isnull=False, left_at__lt=F("last_use_at")))


def presets() -> list[Preset]:
    """In the order that the tenant gave them; the default one first among equals."""
    return list(Preset.objects.order_by("position", "pk"))


def desk_settings() -> DeskSettings:
    """How this desk works; the defaults where nobody set it up."""
    return DeskSettings.objects.first() or DeskSettings()


def guest_of(visit: Visit) -> Guest | None:
    """The service's guest as the mirror has it."""
    return Guest.objects.filter(guest_id=visit.guest_id).first() if visit.guest_id is not None else None


def code_data_of(visit: Visit) -> str:
    """The data of the visit's code, as the mirror has it; empty when nobody here knows it. A secret: draw it only.

    Whoever shows many visits looks once (`code_data_by_visit`) and keeps it on each as `code_data`.
    """
    kept = visit.__dict__.get("code_data")
    return code_data_by_visit([visit]).get(visit.pk, "") if kept is None else str(kept)


def code_data_by_visit(visits: Iterable[Visit]) -> dict[int, str]:
    """The same for many visits, by their keys, in one query."""
    keys = {visit.guest_id: visit.pk for visit in visits if visit.guest_id and visit.gone_at is None}
    guests = Guest.objects.filter(guest_id__in=list(keys), gone_at=None, qrcode_data__isnull=False)
    found = guests.only("id", "tenant_id", "guest_id", "qrcode_data")
    return {keys[guest.guest_id]: guest.qrcode_data or "" for guest in found}


def get_visit(guest_id: str) -> Visit:
    """Return the visit of a guest of the service; 404 exactly as for another tenant's."""
    return _by_guest.get_or_404(guest_id=guest_id)


def get_visit_row(visit_id: int) -> Visit:
    """Return the visit of this number, whether the service has named its guest or not."""
    return _by_number.get_or_404(pk=visit_id)


def get_preset(preset_id: int) -> Preset:
    return get_row_or_404(Preset.objects.all(), pk=preset_id)
