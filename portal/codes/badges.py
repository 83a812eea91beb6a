"""The contents of guests' badges and slips, with a code's hours in words. portal/codes/paper.py draws them as PDF."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from segno import QRCode

from portal.base.files.faces import unprintable
from portal.base.ui import qr_drawing
from portal.base.ui.times import local
from portal.domain.visits.models import Stage, Visit
from portal.domain.visits.queries import code_data_by_visit
from tenants.models import Tenant

MOST_AT_ONCE = 500
# Bilingual, so that anyone who meets the guest understands it.
KIND = "GUEST 来訪者"


class CodePhase(StrEnum):
    """The effect of a code at a door now, as far as the portal knows."""

    NOT_STARTED = "not_yet"
    ACTIVE = "works"
    DEACTIVATING = "ending"  # deactivated, but not confirmed by the service: it may still open
    DEACTIVATED = "cut"
    ENDED = "ended"
    DELETED = "gone"  # the service deleted the guest


@dataclass(frozen=True)
class CodeHours:
    """The phase of a code at one moment, with its start and end."""

    phase: CodePhase
    start: datetime
    end: datetime

    @property
    def is_over(self) -> bool:
        return self.phase in (CodePhase.DEACTIVATED, CodePhase.ENDED, CodePhase.DELETED)

    @property
    def title(self) -> str:
        """Return the phase in one or two words."""
        return {
            CodePhase.NOT_STARTED: _("Not active yet"),
            CodePhase.ACTIVE: _("Active now"),
            CodePhase.DEACTIVATING: _("Deactivating"),
            CodePhase.DEACTIVATED: _("Deactivated"),
            CodePhase.ENDED: _("Ended"),
            CodePhase.DELETED: _("No longer exists"),
        }[self.phase]

    @property
    def sentence(self) -> str:
        """Return a sentence about the phase, with dates for days other than today."""
        now = timezone.now()
        at = {"start": _moment(self.start, now), "end": _moment(self.end, now, self.start)}
        if self.phase == CodePhase.NOT_STARTED:
            return _("Active from %(start)s to %(end)s") % at
        if self.phase == CodePhase.ACTIVE:
            return _("Active until %(end)s") % {"end": _moment(self.end, now)}
        if self.phase == CodePhase.DEACTIVATING:
            return _("It may open doors until this is confirmed.")
        if self.phase == CodePhase.DELETED:
            return _("It no longer opens any door.")
        return _("It stopped working at %(end)s.") % {"end": _moment(self.end, now)}

    @property
    def moments(self) -> tuple[str, str]:
        """Return `2026-11-21 09:00` and `18:00`, for paper."""
        begin, end = local(self.start), local(self.end)
        until = end.strftime("%H:%M" if begin.date() == end.date() else "%Y-%m-%d %H:%M")
        return begin.strftime("%Y-%m-%d %H:%M"), until

    @property
    def period(self) -> str:
        return " – ".join(self.moments)


def hours_of(visit: Visit, now: datetime | None = None) -> CodeHours:
    """Return the phase and hours of a visit's code at `now`."""
    now = now or timezone.now()
    start, end = visit.use_date_start, visit.use_date_end
    if visit.gone_at is not None:
        phase = CodePhase.DELETED
    elif visit.may_still_open and end > now:
        phase = CodePhase.DEACTIVATING
    elif visit.is_cut:
        phase, end = CodePhase.DEACTIVATED, visit.deactivated_since or end
    elif end <= now:
        phase = CodePhase.ENDED
    else:
        phase = CodePhase.NOT_STARTED if start > now else CodePhase.ACTIVE
    return CodeHours(phase, start, end)


def _moment(moment: datetime, now: datetime, other: datetime | None = None) -> str:
    """Return only the time for today or the day of `other`; otherwise date and time."""
    local_time = local(moment)
    near = local(other if other is not None else now).date()
    return local_time.strftime("%H:%M" if local_time.date() == near else "%Y-%m-%d %H:%M")


@dataclass(frozen=True)
class Badge:
    """The badge or slip of one guest. `code` is None if it is unknown or no longer works."""

    building: str
    name: str
    company: str
    host: str
    hours: CodeHours
    code: QRCode | None

    @property
    def kind(self) -> str:
        return KIND

    @property
    def picture(self) -> str:
        return qr_drawing.draw_svg(self.code, self.name) if self.code else ""

    @property
    def is_large(self) -> bool:
        """Return whether the code needs more room than a short one."""
        return self.code is not None and qr_drawing.code_width(self.code) > 65


def badges_of(tenant: Tenant, visits: Sequence[Visit]) -> list[Badge]:
    """Return the badges of these visits in their order, with one query for all codes."""
    data = code_data_by_visit(visits)
    return [_badge(tenant, visit, data.get(visit.pk, "")) for visit in visits]


def unprintable_on_badges(tenant: Tenant, visits: Iterable[Visit]) -> list[str]:
    """Return the characters on the badges of these visits that no font has."""
    on_badges = ((str(visit), visit.company, visit.host_name) for visit in visits)
    return unprintable([tenant.name, *chain.from_iterable(on_badges)])


def visits_of_party(name: uuid.UUID) -> list[Visit]:
    """Return the issued visits of a party that have not ended, in its order. Raises Http404 if there are none."""
    return _upcoming(Visit.objects.filter(party=name))


def upcoming_visits(keys: Iterable[int]) -> list[Visit]:
    """Return those of these visits that have not ended, in the order of the keys, at most MOST_AT_ONCE.

    Raises Http404 if there are none.
    """
    order = {key: place for place, key in enumerate(keys)}
    return sorted(_upcoming(Visit.objects.filter(pk__in=order)), key=lambda visit: order[visit.pk])


def _upcoming(visits: QuerySet[Visit]) -> list[Visit]:
    rows = visits.filter(stage=Stage.ISSUED, gone_at=None, erased_at=None)
    found = list(rows.order_by("pk")[:MOST_AT_ONCE])
    if not found:
        raise Http404
    return found


def _badge(tenant: Tenant, visit: Visit, data: str) -> Badge:
    at = hours_of(visit)
    return Badge(
        building=tenant.name,
        name=str(visit),
        company=visit.company,
        host=visit.host_name,
        hours=at,
        code=None if at.is_over else symbol_of(data),
    )


def symbol_of(data: str) -> QRCode | None:
    """Return the QR code to draw, or None if the data is unknown or cannot be drawn."""
    try:
        return qr_drawing.build_code(data) if data else None
    except qr_drawing.NotDrawable:
        return None
