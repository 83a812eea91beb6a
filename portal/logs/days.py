"""A day of the log: its date, how much of it is loaded, and the days around it."""

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

from django.http import Http404
from django.utils import timezone

from accessapi.moments import read_day
from portal.base.ui.tables.filters import ListAddress
from portal.domain.log import gaps, visibility
from portal.domain.log.filters import coverage_of
from portal.domain.log.gaps import GapNotice
from portal.domain.mirror.coverage import Coverage, Gap, GapKind
from portal.domain.visits.days import Day
from tenants.access import Access, TenantRequest
from tenants.roles import Permission

_FIRST, _LAST = date(2000, 1, 1), date(2999, 12, 30)


@dataclass(frozen=True)
class LogDay:
    """A day that a person may see. `log/known.html` shows how much of it is loaded."""

    day: Day
    request: TenantRequest

    @property
    def start(self) -> datetime:
        return self.day.start

    @property
    def end(self) -> datetime:
        return self.day.end

    @property
    def text(self) -> str:
        return self.day.date.isoformat()

    @cached_property
    def coverage(self) -> Coverage:
        return coverage_of(self.request)

    @cached_property
    def missing(self) -> list[Gap]:
        """Return the missing parts of the day until now, the oldest first."""
        until = min(self.end, timezone.now())
        return self.coverage.gaps(self.start, until)[::-1] if self.start < until else []

    @cached_property
    def is_loaded(self) -> bool:
        """Check whether any part of the day is loaded."""
        until = min(self.end, timezone.now())
        whole = [gap for gap in self.missing if gap.kind is not GapKind.OUTAGE]
        return self.coverage.through is not None and not any(g.since <= self.start and g.until >= until for g in whole)

    @property
    def gap_lines(self) -> list[GapNotice]:
        return gaps.gap_notices(self.coverage, self.start, self.end)

    @property
    def may_load(self) -> bool:
        """Check whether the person may request to load the day."""
        return self.request.access.can(Permission.LOGS_VIEW)

    @property
    def address(self) -> ListAddress:
        return ListAddress(self.request.path, self.request.GET)

    @property
    def previous_day(self) -> "LogDay | None":
        return self._neighbour(-1)

    @property
    def next_day(self) -> "LogDay | None":
        return None if self.start > timezone.now() or self.day.is_today else self._neighbour(1)

    def _neighbour(self, step: int) -> "LogDay | None":
        other = LogDay(self.day.plus_days(step), self.request)
        return other if other.day != self.day and may_see_day(self.request.access, other.day) else None

    def minutes_into_day(self, moment: datetime) -> float:
        """Return the minutes since midnight, limited to this day."""
        return min(max((moment - self.start).total_seconds() / 60, 0), 1440)


def day_or_404(request: TenantRequest, text: str, *, subject_id: str) -> LogDay:
    """Return the day of an address, for the person or device `subject_id`.

    Raises Http404 for an invalid day or ID, and for days that the person's role may not see.
    """
    named = read_day(text)
    if named is None or named.isoformat() != text or not _FIRST <= named <= _LAST or "\x00" in subject_id:
        raise Http404
    if not may_see_day(request.access, Day(named)):
        raise Http404
    return LogDay(Day(named), request)


def may_see_day(access: Access, day: Day) -> bool:
    since = visibility.visible_since(access)
    return since is None or day.end > since
