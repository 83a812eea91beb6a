"""A day of the log: how much of it is loaded, the types of its records, and a door's hours."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Case, CharField, Count, Q, QuerySet, TextChoices, Value, When
from django.db.models.functions import ExtractHour
from django.http import Http404
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.doors import Patterns
from accessapi.moments import read_day
from accessapi.overrides import Catalogue
from portal.base.ui import charts
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.times import TOKYO
from portal.base.ui.value_words import join_values
from portal.domain.history import gaps, visibility
from portal.domain.history.coverage import Coverage, Gap, GapKind
from portal.domain.history.filters import coverage_of
from portal.domain.history.gaps import GapNotice
from portal.domain.history.models import History
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
        log_gaps = [gap for gap in self.missing if gap.kind is not GapKind.OUTAGE]
        return self.coverage.through is not None and not any(
            g.since <= self.start and g.until >= until for g in log_gaps
        )

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
    def heading(self) -> str:
        """Return the date with its weekday: "2026-11-25 (Wed)"."""
        return _t("%(date)s (%(weekday)s)") % {"date": self.text, "weekday": date_format(self.day.date, "D")}

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


class RecordType(TextChoices):
    """The type of a record, in the order in which bars are stacked."""

    ENTRY = "entry", pgettext_lazy("log", "Entries")
    REFUSED = "refused", _("Refused")
    ALARM = "alarm", _("Alarms and faults")
    OTHER = "other", pgettext_lazy("log", "Other")


def type_of(record: History, catalogue: Catalogue) -> RecordType:
    """Return the type of a record, by the catalogue of the service environment."""
    somebody = bool(record.member_id or record.member_name)
    if somebody and record.category in catalogue.records.used:
        return RecordType.ENTRY
    if somebody and record.category in catalogue.records.refused:
        return RecordType.REFUSED
    is_alarm = record.category in catalogue.records.alarm_categories and not catalogue.states.is_over(record.status)
    return RecordType.ALARM if is_alarm else RecordType.OTHER


def type_expression(catalogue: Catalogue) -> Any:
    """Return the same as `type_of`, as a database expression."""
    somebody, over = ~Q(member_id="") | ~Q(member_name=""), _matches_one_of("status", catalogue.states.over)
    return Case(
        When(somebody & Q(category__in=catalogue.records.used), then=Value(RecordType.ENTRY.value)),
        When(somebody & Q(category__in=catalogue.records.refused), then=Value(RecordType.REFUSED.value)),
        When(Q(category__in=catalogue.records.alarm_categories) & ~over, then=Value(RecordType.ALARM.value)),
        default=Value(RecordType.OTHER.value),
        output_field=CharField(),
    )


def _matches_one_of(column: str, patterns: Patterns) -> Q:
    """Return the condition that a column matches one of these patterns, in which * matches anything."""
    regexes = (".*".join(map(re.escape, pattern.split("*"))) for pattern in patterns)
    return Q(**{f"{column}__regex": f"^({'|'.join(regexes)})$"})


# How many records that need attention are listed below the bars.
MAX_LISTED = 20


@dataclass(frozen=True)
class HourCount:
    """The number of records of each type in an hour."""

    start: datetime
    href: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RecordType.values, 0))

    @property
    def end(self) -> datetime:
        return self.start + timedelta(hours=1)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def cells(self) -> list[tuple[str, Any, int]]:
        """Return (type, label, number) for each type."""
        return [(sort.value, sort.label, self.counts[sort]) for sort in RecordType]

    @property
    def description(self) -> str:
        """Return the text that is shown when the pointer is on the hour's bar."""
        return join_values(f"{RecordType(sort).label} {count}" for sort, count in self.counts.items() if count) or "0"


@dataclass(frozen=True)
class DoorHours:
    hours: Sequence[HourCount]

    @property
    def totals(self) -> dict[str, int]:
        return {sort: sum(hour.counts[sort] for hour in self.hours) for sort in RecordType.values}

    @property
    def figures(self) -> list[tuple[str, Any, int]]:
        """Return (type, label, number) for the whole day."""
        return [(sort.value, sort.label, self.totals[sort]) for sort in RecordType]

    @property
    def total(self) -> int:
        return sum(hour.total for hour in self.hours)

    @property
    def busy_hours(self) -> Sequence[HourCount]:
        """Return the hours from the first to the last one with records."""
        used = [place for place, hour in enumerate(self.hours) if hour.total]
        return self.hours[used[0] : used[-1] + 1] if used else []

    @property
    def busiest_hour(self) -> HourCount | None:
        return max(self.hours, key=lambda hour: hour.total) if self.total else None

    @property
    def chart(self) -> charts.StackedChart:
        return charts.stacked_chart(self.hours, lambda hour: hour.counts, step=26)


def records_at_door(records: QuerySet[History], device_id: str, day: LogDay) -> QuerySet[History]:
    """Return the door's records of this day."""
    return records.filter(device_id=device_id, at__gte=day.start, at__lt=day.end).exclude(device_id="")


def count_hours(
    records: QuerySet[History], day: LogDay, catalogue: Catalogue, address_of_hour: Callable[[datetime], str]
) -> DoorHours:
    """Count records by hour and type, in one statement.

    `address_of_hour` returns the address of the log for the hour that begins at a given time.
    """
    begun = [day.start + timedelta(hours=number) for number in range(24)]
    hours = [HourCount(start, address_of_hour(start)) for start in begun]
    grouped = records.annotate(hour=ExtractHour("at", tzinfo=TOKYO), sort=type_expression(catalogue)).order_by()
    for hour, sort, count in grouped.values_list("hour", "sort").annotate(Count("pk")):
        hours[hour].counts[sort] = count
    return DoorHours(hours)


def attention_records(records: QuerySet[History], catalogue: Catalogue) -> list[History]:
    """Return the newest records with refusals or problems."""
    loud = records.annotate(sort=type_expression(catalogue)).filter(sort__in=[RecordType.REFUSED, RecordType.ALARM])
    return list(loud.order_by("-at", "-pk")[:MAX_LISTED])
