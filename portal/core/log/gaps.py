"""What a page of the log says about its completeness: how far it is complete, and what is missing of it and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.core.mirror import reasons
from portal.core.mirror.coverage import MOST_WAITING, Coverage, Gap, Missing
from portal.core.mirror.freshness import KindFreshness
from portal.core.mirror.kinds import Kind
from portal.core.ui.times import local
from portal.core.ui.vocabulary import join_sentences

# A gap is told day by day only where that is short.
_SHORT = timedelta(days=2)


@dataclass(frozen=True)
class Line:
    """One sentence about a gap. `days` can be loaded, the newest first, at about so many `calls`."""

    text: str
    tone: str = "quiet"  # or loud: the page shows less than happened
    days: tuple[date, ...] = ()
    calls: int = 0

    @property
    def button(self) -> str:
        cost = ngettext("about %(n)s API call", "about %(n)s API calls", self.calls) % {"n": self.calls}
        if len(self.days) == 1:
            return _("Load %(day)s (%(cost)s)") % {"day": self.days[0].isoformat(), "cost": cost}
        return _("Load %(n)s days (%(cost)s)") % {"n": len(self.days), "cost": cost}


def lines(known: Coverage, since: datetime | None, until: datetime | None) -> list[Line]:
    """Return what is to be said about records from `since` to `until`; None for the bounds of what is shown.

    Without a lower bound the day before what is known is offered, and nothing older.
    """
    if known.through is None:
        return []
    end = until or timezone.now()
    begin = since or max(known.known_from or end, timezone.now() - timedelta(days=30))
    told = [line for gap in known.gaps(begin, end) if (line := _told(gap, known, bounded=until is not None))]
    if since is None and known.known_from is not None:
        told += _before(known)
    return told


def _told(gap: Gap, known: Coverage, *, bounded: bool) -> Line | None:
    first, last = gap.days[-1], gap.days[0]
    days = first.isoformat() if first == last else f"{first.isoformat()} – {last.isoformat()}"
    if gap.why is Missing.OUTAGE:
        times = {"since": _short(gap.since), "until": _short(gap.until), "read": _short(gap.read_at or gap.until)}
        return Line(_("The service did not respond between %(since)s and %(until)s. Loaded again at %(read)s.") % times)
    if gap.why is Missing.LATER:
        return _later(known) if known.error else None
    if gap.why is Missing.WAITING:
        return Line(_("Loading %(days)s.") % {"days": days})
    if gap.why is Missing.GONE:
        return Line(_("%(days)s: older than a year, no longer available from the service.") % {"days": days})
    wanted = tuple(gap.days[:MOST_WAITING])
    why = reasons.sentence(gap.reason, Kind.HISTORIES) if gap.reason else ""
    text = join_sentences([_("%(days)s not loaded.") % {"days": days}, why])
    return Line(text, "loud", wanted, known.calls_for(len(wanted)))


def _later(known: Coverage) -> Line:
    """The log cannot be read now."""
    return Line(_paused(known.failing_since or known.through, known.error, known.next_at), "loud")


def paused(log: KindFreshness, *, is_brief: bool = False) -> str:
    """Return what a page that rests on the log says while the log cannot be read; nothing otherwise.

    `is_brief` leaves the reason out, for those who know of no service.
    """
    return _paused(log.as_of, log.error, log.next_at, is_brief=is_brief) if log.error else ""


def _paused(since: datetime | None, error: str, next_at: datetime | None, *, is_brief: bool = False) -> str:
    """Since when, why, and when it is tried again."""
    said = [_("Not updated since %(time)s.") % {"time": _short(since)} if since else ""]
    said += [] if is_brief else [reasons.sentence(error, Kind.HISTORIES)]
    if next_at is not None and not reasons.is_lasting(error):
        said.append(_("Next try at %(time)s.") % {"time": _short(next_at)})
    return join_sentences(said)


def _before(known: Coverage) -> Iterator[Line]:
    """The end of what is loaded, and the next day to load."""
    if known.known_from is None:
        return
    day = local(known.known_from - timedelta(microseconds=1)).date()
    if day in known.waiting:
        yield Line(_("Loading %(days)s.") % {"days": day.isoformat()})
        return
    text = _("Loaded from %(time)s on.") % {"time": _short(known.known_from, dated=True)}
    yield Line(text, "quiet", (day,), known.calls_for(1))


def _short(at: datetime, *, dated: bool = False) -> str:
    there = local(at)
    same = there.date() == local(timezone.now()).date() and not dated
    return f"{there:%H:%M}" if same else f"{there:%Y-%m-%d %H:%M}"
