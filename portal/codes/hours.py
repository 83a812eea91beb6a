"""From when until when a code works, in words that nobody at a desk can misread."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.core.ui.times import local
from portal.core.visits.models import Visit


class Phase(StrEnum):
    """What the code does at a door right now, as far as the portal knows."""

    EARLY = "not_yet"
    WORKS = "works"
    ENDING = "ending"  # cut short, and the service has not confirmed it: it may still open
    CUT = "cut"
    ENDED = "ended"
    GONE = "gone"  # the service deleted the guest


@dataclass(frozen=True)
class Hours:
    """The phase at one moment, and the moments that make it."""

    phase: Phase
    start: datetime
    end: datetime

    @property
    def is_over(self) -> bool:
        return self.phase in (Phase.CUT, Phase.ENDED, Phase.GONE)

    @property
    def title(self) -> str:
        """One or two words."""
        return {
            Phase.EARLY: _("Not active yet"),
            Phase.WORKS: _("Active now"),
            Phase.ENDING: _("Deactivating"),
            Phase.CUT: _("Deactivated"),
            Phase.ENDED: _("Ended"),
            Phase.GONE: _("Deleted from the service"),
        }[self.phase]

    @property
    def sentence(self) -> str:
        """The whole of it, with dates wherever they are not today's."""
        now = timezone.now()
        at = {"start": _moment(self.start, now), "end": _moment(self.end, now, self.start)}
        if self.phase == Phase.EARLY:
            return _("Active from %(start)s to %(end)s") % at
        if self.phase == Phase.WORKS:
            return _("Active until %(end)s") % {"end": _moment(self.end, now)}
        if self.phase == Phase.ENDING:
            return _("It may still open doors until the service confirms.")
        if self.phase == Phase.GONE:
            return _("It no longer opens any door.")
        return _("It stopped working at %(end)s.") % {"end": _moment(self.end, now)}

    @property
    def span(self) -> str:
        """`2026-11-21 09:00 – 18:00`, for paper."""
        begin, end = local(self.start), local(self.end)
        until = end.strftime("%H:%M" if begin.date() == end.date() else "%Y-%m-%d %H:%M")
        return f"{begin:%Y-%m-%d %H:%M} – {until}"


def hours(visit: Visit, now: datetime | None = None) -> Hours:
    """How the code of a visit stands at `now`."""
    now = now or timezone.now()
    start, end = visit.use_date_start, visit.use_date_end
    if visit.gone_at is not None:
        phase = Phase.GONE
    elif visit.may_still_open and end > now:
        phase = Phase.ENDING
    elif visit.is_cut:
        phase, end = Phase.CUT, visit.dead_since or end
    elif end <= now:
        phase = Phase.ENDED
    else:
        phase = Phase.EARLY if start > now else Phase.WORKS
    return Hours(phase, start, end)


def _moment(moment: datetime, now: datetime, beside: datetime | None = None) -> str:
    """The time alone today, or on the day that stands beside it already; the date before it otherwise."""
    there = local(moment)
    near = local(beside if beside is not None else now).date()
    return there.strftime("%H:%M" if there.date() == near else "%Y-%m-%d %H:%M")
