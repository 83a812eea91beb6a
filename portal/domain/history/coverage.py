"""The times for which the activity log is complete, the reasons for its gaps, and what is to be read again.

An older day is read on request, because it costs calls. Spans are read again when a device reported records late; each
takes one or two calls, since its known records fit on one page. `reading.py` reads both, and stores its progress in the
memory of the log's state.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from itertools import pairwise
from math import ceil
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from accessapi.limits import HISTORY_RETENTION_DAYS, JST, PAGE_MAX
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.events import MirrorKind
from portal.domain.history.models import History, HistoryDay
from portal.domain.history.partitions import RETENTION
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from tenants.models import current_tenant

# At most this many days wait to be read, so that the calls are spent soon after the request.
MAX_WAITING_DAYS = 31
_DAY = timedelta(days=1)
# Names in the memory of the log's state: the start of the current outage, and past outages as [since, until].
FAILING_SINCE, OUTAGES = "failing_since", "outages"


class GapKind(StrEnum):
    """The reason why records of a time are missing."""

    UNREAD = "unread"  # older than what was read; can be requested
    WAITING = "waiting"  # requested
    REFUSED = "refused"  # requested, and the service refused
    GONE = "gone"  # older than the service's retention
    LATER = "later"  # newer than the last reading
    OUTAGE = "outage"  # the service did not answer then, and was read again at `read_at`


@dataclass(frozen=True)
class Gap:
    """A time with missing records and the reason; `until` is exclusive."""

    kind: GapKind
    since: datetime
    until: datetime
    read_at: datetime | None = None
    reason: str = ""

    @property
    def days(self) -> list[date]:
        """Return the days that the gap touches, the newest first."""
        last = (self.until - timedelta(microseconds=1)).astimezone(JST).date()
        first = self.since.astimezone(JST).date()
        return [last - _DAY * number for number in range((last - first).days + 1)]


@dataclass(frozen=True)
class Coverage:
    """The times for which the log is complete.

    These are `known_from` to `through` without a gap (None: not read yet), and the older `read_days`.
    """

    known_from: datetime | None = None
    through: datetime | None = None
    read_days: Mapping[date, datetime] = field(default_factory=dict)  # when each was read
    waiting_days: tuple[date, ...] = ()
    refused_days: Mapping[date, str] = field(default_factory=dict)  # a word of `failure_reasons`
    outages: tuple[tuple[datetime, datetime], ...] = ()
    failing_since: datetime | None = None
    error: str = ""
    next_at: datetime | None = None
    records_per_day: float = 0.0  # on average, over the days that were read
    categories: tuple[str, ...] = ()  # all that occurred in the log so far, like the statuses
    statuses: tuple[str, ...] = ()

    @property
    def version(self) -> tuple[object, ...]:
        """Return a value that changes when a page that shows the coverage must be drawn again."""
        parts = (self.known_from and self.known_from.date(), self.through, self.failing_since, self.error)
        next_at = self.next_at if self.error else None
        return (*parts, next_at, len(self.read_days), len(self.waiting_days), len(self.refused_days), len(self.outages))

    def gaps(self, since: datetime, until: datetime) -> list[Gap]:
        """Return the gaps and the service's outages within a time, the newest first."""
        found = list(self._unread_gap(until))
        found += [Gap(GapKind.OUTAGE, *each, read_at=each[1]) for each in self.outages if _overlap(each, since, until)]
        end = min(until, self.known_from or until)
        found += self._older_gaps(since, end) if since < end else []
        return sorted(found, key=lambda gap: gap.until, reverse=True)

    def calls_for(self, days: int) -> int:
        """Return about how many calls it costs to read so many days; each day has at least one page."""
        return days * max(1, ceil(self.records_per_day / PAGE_MAX))

    def _unread_gap(self, until: datetime) -> Iterator[Gap]:
        if self.through is not None and until > self.through:
            yield Gap(GapKind.LATER, self.through, until, reason=self.error)

    def _older_gaps(self, since: datetime, until: datetime) -> Iterator[Gap]:
        """Yield the gaps before `known_from`; days in a row with the same reason are one gap."""
        oldest = start_of_day((database_now() - timedelta(days=HISTORY_RETENTION_DAYS)).astimezone(JST).date())
        if since < oldest:
            yield Gap(GapKind.GONE, since, min(oldest, until))
        day = max(since, oldest).astimezone(JST).date()
        begun: Gap | None = None
        while start_of_day(day) < until:
            why, reason = self._gap_kind_of_day(day)
            gap = (
                Gap(why, max(since, start_of_day(day)), min(until, start_of_day(day + _DAY)), reason=reason)
                if why
                else None
            )
            if begun and gap and (begun.kind, begun.reason) == (gap.kind, gap.reason):
                begun = Gap(begun.kind, begun.since, gap.until, reason=reason)
            else:
                yield from [begun] if begun else []
                begun = gap
            day += _DAY
        yield from [begun] if begun else []

    def _gap_kind_of_day(self, day: date) -> tuple[GapKind | None, str]:
        if day in self.read_days:
            return None, ""
        if day in self.waiting_days:
            return GapKind.WAITING, ""
        return (GapKind.REFUSED, self.refused_days[day]) if day in self.refused_days else (GapKind.UNREAD, "")


def start_of_day(day: date) -> datetime:
    """Return when a day begins, in the service's time zone."""
    return datetime.combine(day, time(), JST)


def load_coverage() -> Coverage:
    """Return the coverage of the entered tenant's log."""
    state = MirrorState.objects.filter(kind=MirrorKind.HISTORIES).annotate(now=ClockTime()).first()
    return Coverage() if state is None else build_coverage(state, list(HistoryDay.objects.all()))


def build_coverage(state: Any, day_rows: Sequence[HistoryDay]) -> Coverage:
    """Return the coverage from the log's state (annotated with `now`) and the rows of the requested days."""
    if state.as_of is None:
        return Coverage(error=state.error, next_at=schedule.next_read_at(state))
    memory = state.memory
    since = _moment(memory.get("known_from"))
    known_from = max(since, state.now - RETENTION) if since else None
    days = {each.day: each.read_at for each in day_rows if each.read_at}
    return Coverage(
        known_from=known_from,
        through=state.as_of,
        read_days=days,
        waiting_days=tuple(each.day for each in day_rows if not each.read_at and not each.reason),
        refused_days={each.day: each.reason for each in day_rows if each.reason},
        outages=tuple(
            (datetime.fromisoformat(one), datetime.fromisoformat(two)) for one, two in memory.get(OUTAGES, ())
        ),
        failing_since=_moment(memory.get(FAILING_SINCE)),
        error=state.error,
        next_at=schedule.next_read_at(state),
        categories=tuple(memory.get("category", ())),
        statuses=tuple(memory.get("status", ())),
        records_per_day=state.total / max(1.0, (state.as_of - known_from) / _DAY + len(days)) if known_from else 0.0,
    )


def request_days(days: Sequence[date]) -> list[date]:
    """Request a reading of those of these days that are unknown, and return them; at most MAX_WAITING_DAYS wait."""
    with transaction.atomic():
        state = MirrorState.objects.select_for_update().filter(kind=MirrorKind.HISTORIES).first()
        if state is None or state.as_of is None:
            return []
        known = load_coverage()
        may = {day for gap in _requestable_gaps(known) for day in gap.days}
        requested = [day for day in dict.fromkeys(days) if day in may][: MAX_WAITING_DAYS - len(known.waiting_days)]
        for day in requested:
            HistoryDay.objects.update_or_create(
                day=day, defaults={"requested_at": Now(), "read_at": None, "reason": ""}
            )
        if requested:
            schedule.request_more(current_tenant(), MirrorKind.HISTORIES)
    return requested


def next_waiting_day() -> HistoryDay | None:
    """Return the newest day that waits to be read."""
    return HistoryDay.objects.filter(read_at=None, reason="").order_by("-day").first()


def extend_known_from(known_from: datetime) -> datetime:
    """Return the start of the days that were read without a gap before `known_from`."""
    read = set(HistoryDay.objects.filter(read_at__isnull=False).values_list("day", flat=True))
    day = (known_from - timedelta(microseconds=1)).astimezone(JST).date()
    while day in read:
        known_from = start_of_day(day)
        day -= _DAY
    return known_from


def _requestable_gaps(known: Coverage) -> list[Gap]:
    oldest = database_now() - timedelta(days=HISTORY_RETENTION_DAYS)
    gaps = known.gaps(oldest, known.known_from or oldest)
    return [gap for gap in gaps if gap.kind in (GapKind.UNREAD, GapKind.REFUSED)]


def _overlap(span: tuple[datetime, datetime], since: datetime, until: datetime) -> bool:
    return span[0] < until and span[1] > since


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


# This many known records leave room on a page for the missing ones.
MAX_KNOWN_ON_PAGE = int(PAGE_MAX * 0.9)
_SECOND = timedelta(seconds=1)

LateSpan = tuple[datetime, datetime]


def request_late_spans(state: MirrorState, moments: Iterable[datetime]) -> None:
    """Request another reading of the log at these moments, as far as it was read already.

    Replaces earlier requests. The caller has locked the state's row.
    """
    if state.as_of is None:
        return
    oldest = database_now() - timedelta(days=HISTORY_RETENTION_DAYS)
    late = sorted({moment.replace(microsecond=0) for moment in moments if oldest < moment < state.as_of})
    spans = [[each.isoformat() for each in span] for span in _late_spans(late)] if late else []
    if spans != state.late:
        MirrorState.objects.filter(pk=state.pk).update(late=spans)
        state.late = spans


def waiting_late_spans() -> list[LateSpan]:
    """Return the spans that wait to be read, the oldest first."""
    found = MirrorState.objects.filter(kind=MirrorKind.HISTORIES).values_list("late", flat=True).first() or []
    return [(datetime.fromisoformat(since), datetime.fromisoformat(until)) for since, until in found]


def remove_late_spans(spans: Sequence[LateSpan]) -> None:
    """Remove spans that were read from the waiting ones."""
    read = [[each.isoformat() for each in span] for span in spans]
    with transaction.atomic():
        state = MirrorState.objects.select_for_update().get(kind=MirrorKind.HISTORIES)
        left = [span for span in state.late if span not in read]
        MirrorState.objects.filter(pk=state.pk).update(late=left)


def fits_on_page(since: datetime) -> bool:
    """Return whether the known records since then fit on one page and leave room for more."""
    return History.objects.filter(at__gte=since)[: MAX_KNOWN_ON_PAGE + 1].count() <= MAX_KNOWN_ON_PAGE


def _late_spans(moments: Sequence[datetime]) -> list[LateSpan]:
    """Return spans that cover these moments, each at most one page, split where the moments are farthest apart."""
    first, last = moments[0], moments[-1]
    if (
        first == last
        or History.objects.filter(at__gte=first, at__lt=last + _SECOND)[: MAX_KNOWN_ON_PAGE + 1].count()
        <= MAX_KNOWN_ON_PAGE
    ):
        return [(first, last)]
    gaps = [after - before for before, after in pairwise(moments)]
    cut = gaps.index(max(gaps)) + 1
    return [*_late_spans(moments[:cut]), *_late_spans(moments[cut:])]
