"""Notices about the completeness of the log: how far it is loaded, and what is missing and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui.times import local, today
from portal.base.ui.value_words import join_sentences
from portal.domain.events import MirrorKind
from portal.domain.history.coverage import MAX_WAITING_DAYS, Coverage, Gap, GapKind
from portal.domain.sync import failure_reasons
from portal.domain.sync.freshness import KindFreshness

# Only gaps that are shorter than this are shown day by day.
_SHORT = timedelta(days=2)


@dataclass(frozen=True)
class GapNotice:
    """One sentence about a gap. `days` can be loaded, the newest first, with about `calls` API calls."""

    text: str
    tone: str = "quiet"  # or loud: the page shows less than happened
    days: tuple[date, ...] = ()
    calls: int = 0

    @property
    def button_label(self) -> str:
        cost = ngettext("about %(n)s API call", "about %(n)s API calls", self.calls) % {"n": self.calls}
        if len(self.days) == 1:
            return _("Load %(day)s (%(cost)s)") % {"day": self.days[0].isoformat(), "cost": cost}
        return _("Load %(n)s days (%(cost)s)") % {"n": len(self.days), "cost": cost}


def gap_notices(known: Coverage, since: datetime | None, until: datetime | None) -> list[GapNotice]:
    """Return the notices about records from `since` to `until`. None means no bound.

    Without a lower bound, only the day before the loaded days is offered.
    """
    if known.through is None:
        return []
    end = until or timezone.now()
    begin = since or max(known.known_from or end, timezone.now() - timedelta(days=30))
    notices = [line for gap in known.gaps(begin, end) if (line := _notice_of(gap, known, bounded=until is not None))]
    if since is None and known.known_from is not None:
        notices += _older_days(known)
    return notices


def _notice_of(gap: Gap, known: Coverage, *, bounded: bool) -> GapNotice | None:
    first, last = gap.days[-1], gap.days[0]
    days = first.isoformat() if first == last else f"{first.isoformat()} – {last.isoformat()}"
    if gap.kind is GapKind.OUTAGE:
        times = {
            "since": _time_text(gap.since),
            "until": _time_text(gap.until),
            "read": _time_text(gap.read_at or gap.until),
        }
        return GapNotice(
            _("The service did not respond between %(since)s and %(until)s. Loaded again at %(read)s.") % times
        )
    if gap.kind is GapKind.LATER:
        return _paused_notice(known) if known.error else None
    if gap.kind is GapKind.WAITING:
        return GapNotice(_("Loading %(days)s.") % {"days": days})
    if gap.kind is GapKind.GONE:
        return GapNotice(_("%(days)s: older than a year, no longer available from the service.") % {"days": days})
    loadable = tuple(gap.days[:MAX_WAITING_DAYS])
    why = failure_reasons.sentence_of(gap.reason, MirrorKind.HISTORIES) if gap.reason else ""
    text = join_sentences([_("%(days)s not loaded.") % {"days": days}, why])
    return GapNotice(text, "loud", loadable, known.calls_for(len(loadable)))


def _paused_notice(known: Coverage) -> GapNotice:
    """Return the notice that the log cannot be loaded now."""
    return GapNotice(_paused_sentences(known.failing_since or known.through, known.error, known.next_at), "loud")


def paused_text(log: KindFreshness, *, is_brief: bool = False) -> str:
    """Return the notice that the log cannot be loaded now, for pages that depend on it; otherwise an empty text.

    `is_brief` leaves out the reason, for readers who do not know the service.
    """
    return _paused_sentences(log.as_of, log.error, log.next_at, is_brief=is_brief) if log.error else ""


def _paused_sentences(since: datetime | None, error: str, next_at: datetime | None, *, is_brief: bool = False) -> str:
    """Return since when and why the log is not updated, and the time of the next try."""
    sentences = [_("Not updated since %(time)s.") % {"time": _time_text(since)} if since else ""]
    sentences += [] if is_brief else [failure_reasons.sentence_of(error, MirrorKind.HISTORIES)]
    if next_at is not None and not failure_reasons.is_permanent(error):
        sentences.append(_("Next try at %(time)s.") % {"time": _time_text(next_at)})
    return join_sentences(sentences)


def _older_days(known: Coverage) -> Iterator[GapNotice]:
    """Yield the notice about the end of the loaded days, with the next day to load."""
    if known.known_from is None:
        return
    day = local(known.known_from - timedelta(microseconds=1)).date()
    if day in known.waiting_days:
        yield GapNotice(_("Loading %(days)s.") % {"days": day.isoformat()})
        return
    text = _("Loaded from %(time)s on.") % {"time": _time_text(known.known_from, dated=True)}
    yield GapNotice(text, "quiet", (day,), known.calls_for(1))


def _time_text(at: datetime, *, dated: bool = False) -> str:
    local_time = local(at)
    same = local_time.date() == today() and not dated
    return f"{local_time:%H:%M}" if same else f"{local_time:%Y-%m-%d %H:%M}"
