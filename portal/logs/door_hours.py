"""Count a door's records of a day by the hour: passages, refusals and problems."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, QuerySet
from django.db.models.functions import ExtractHour

from accessapi.overrides import Catalogue
from portal.base.ui import charts
from portal.base.ui.times import TOKYO
from portal.domain.mirror.models import History
from portal.logs.days import LogDay
from portal.logs.record_types import RecordType, type_expression

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
        return ", ".join(f"{RecordType(sort).label} {count}" for sort, count in self.counts.items() if count) or "0"


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
    records: QuerySet[History], day: LogDay, words: Catalogue, address_of_hour: Callable[[datetime], str]
) -> DoorHours:
    """Count records by hour and type, in one statement.

    `address_of_hour` returns the address of the log for the hour that begins at a given time.
    """
    begun = [day.start + timedelta(hours=number) for number in range(24)]
    hours = [HourCount(start, address_of_hour(start)) for start in begun]
    grouped = records.annotate(hour=ExtractHour("at", tzinfo=TOKYO), sort=type_expression(words)).order_by()
    for hour, sort, count in grouped.values_list("hour", "sort").annotate(Count("pk")):
        hours[hour].counts[sort] = count
    return DoorHours(hours)


def attention_records(records: QuerySet[History], words: Catalogue) -> list[History]:
    """Return the newest records with refusals or problems."""
    loud = records.annotate(sort=type_expression(words)).filter(sort__in=[RecordType.REFUSED, RecordType.ALARM])
    return list(loud.order_by("-at", "-pk")[:MAX_LISTED])
