"""One day of the log: which, what the mirror has of it, and the days beside it."""

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from django.http import Http404
from django.utils import timezone

from portal.core.log import visible
from portal.core.mirror.coverage import Coverage, Gap, Missing, coverage
from portal.core.visits.days import Day
from tenants.access import Access
from tenants.roles import Permission

_FIRST, _LAST = date(2000, 1, 1), date(2999, 12, 30)
# Of these a day may have everything all the same.
_AT_TIMES = (Missing.OUTAGE,)


@dataclass(frozen=True)
class LogDay:
    """A day that somebody may look at."""

    day: Day
    access: Access

    @cached_property
    def known(self) -> Coverage:
        return coverage()

    @property
    def start(self) -> datetime:
        return self.day.start

    @property
    def end(self) -> datetime:
        return self.day.end

    @property
    def text(self) -> str:
        return self.day.date.isoformat()

    @property
    def is_ahead(self) -> bool:
        return self.start > timezone.now()

    @cached_property
    def gaps(self) -> list[Gap]:
        """What is missing of the day as far as it is over, the oldest first."""
        until = min(self.end, timezone.now())
        return self.known.gaps(self.start, until)[::-1] if self.start < until else []

    @cached_property
    def is_loaded(self) -> bool:
        """Whether anything of the day was read."""
        until = min(self.end, timezone.now())
        missing = [gap for gap in self.gaps if gap.why not in _AT_TIMES]
        return self.known.through is not None and not any(g.since <= self.start and g.until >= until for g in missing)

    @cached_property
    def unread(self) -> Gap | None:
        """That the day may be loaded on request."""
        return next((gap for gap in self.gaps if gap.why in (Missing.UNREAD, Missing.REFUSED)), None)

    @property
    def calls(self) -> int:
        """What loading it costs."""
        return self.known.calls_for(1)

    @property
    def before(self) -> "LogDay | None":
        return self._beside(-1)

    @property
    def after(self) -> "LogDay | None":
        return None if self.day.is_today or self.is_ahead else self._beside(1)

    def _beside(self, step: int) -> "LogDay | None":
        other = LogDay(self.day.moved(step), self.access)
        return other if other.day != self.day and may_see(self.access, other.day) else None

    def minutes(self, moment: datetime) -> float:
        """How long after midnight, within the day."""
        return min(max((moment - self.start).total_seconds() / 60, 0), 1440)


def day_or_404(access: Access, text: str, *, of: str) -> LogDay:
    """Return the day of an address, `of` somebody or something. Raises Http404 for what is no day or no ID, and for a
    day that the person's role may not see.
    """
    try:
        named = date.fromisoformat(text)
    except ValueError:
        raise Http404 from None
    if named.isoformat() != text or "\x00" in of or not _FIRST <= named <= _LAST or not may_see(access, Day(named)):
        raise Http404
    return LogDay(Day(named), access)


def may_see(access: Access, day: Day) -> bool:
    since = visible.since(access)
    return since is None or day.end > since


def context(of: LogDay) -> dict[str, Any]:
    """What `logs/day_known.html` and `logs/day_nav.html` are drawn from."""
    may_load = of.access.can(Permission.LOGS_VIEW)
    return {"of": of, "missing": {each.name: each.value for each in Missing}, "may_load": may_load}
