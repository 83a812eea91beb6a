"""Count a month's visits by day, hour and length of stay. No names are used."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Avg, Case, Count, F, Q, Value, When
from django.db.models.functions import ExtractHour, TruncDate
from django.utils.translation import gettext as _

from accessapi.permissions import Holidays
from portal.base.files.cells import CellValue
from portal.base.ui import charts
from portal.base.ui.times import TOKYO, duration_words, moment_text
from portal.domain.events import MirrorKind
from portal.domain.history import gaps
from portal.domain.places.queries import load_holidays
from portal.domain.sync import freshness
from portal.domain.visits.days import Day, Month
from portal.domain.visits.models import Visit
from portal.domain.visits.visit_status import LABELS, VisitStatus, with_status
from tenants.access import TenantRequest

_COUNTS = ("came", "not_come", "cut", "open")


@dataclass(frozen=True)
class DayCount:
    """A day's visits, counted by their start. `open`: visits whose outcome is not known yet."""

    day: Day
    came: int
    not_come: int
    cut: int
    open: int
    # The holiday's name; "" for a weekly holiday of the tenant; None if the day is no holiday.
    holiday: str | None = None

    @property
    def total(self) -> int:
        return self.came + self.not_come + self.cut + self.open

    @property
    def is_day_off(self) -> bool:
        """Check whether the day is a weekend or a holiday."""
        return self.day.date.weekday() >= 5 or self.holiday is not None


@dataclass(frozen=True)
class MonthFigures:
    month: Month
    days: list[DayCount]
    hours: list[int]
    stay: timedelta | None

    @property
    def total(self) -> int:
        return sum(day.total for day in self.days)

    @property
    def came(self) -> int:
        return sum(day.came for day in self.days)

    @property
    def not_come(self) -> int:
        return sum(day.not_come for day in self.days)

    @property
    def cut(self) -> int:
        return sum(day.cut for day in self.days)

    @property
    def open(self) -> int:
        return sum(day.open for day in self.days)

    @property
    def busiest(self) -> DayCount | None:
        return max(self.days, key=lambda day: day.total, default=None) if self.total else None

    @property
    def busiest_hour(self) -> str:
        top = max(range(24), key=self.hours.__getitem__)
        return f"{top:02d}:00–{top + 1:02d}:00" if self.hours[top] else ""

    @property
    def stay_words(self) -> str:
        return duration_words(int(self.stay.total_seconds() // 60)) if self.stay else ""


def load_figures(month: Month, now: datetime) -> MonthFigures:
    """Return a month's figures, with three queries. Visits with an arrival count as arrived, even if the guest left."""
    begun = Visit.objects.filter(use_date_start__gte=month.start, use_date_start__lt=month.end)
    counted: dict[tuple[date, str], int] = {}
    came = Case(When(arrived_at__isnull=False, then=Value("came")), default=F("status"))
    grouped = with_status(begun, now).annotate(day=TruncDate("use_date_start", tzinfo=TOKYO)).order_by()
    for day, word, number in grouped.annotate(word=came).values_list("day", "word").annotate(Count("pk")):
        counted[day, word] = number
    arrived = Visit.objects.filter(arrived_at__gte=month.start, arrived_at__lt=month.end)
    by_hour = arrived.annotate(hour=ExtractHour("arrived_at", tzinfo=TOKYO)).order_by()
    hours = dict(by_hour.values_list("hour").annotate(Count("pk")))
    same_day_stays = arrived.filter(Q(left_at__gt=F("arrived_at")) & Q(left_at__lt=F("arrived_at") + timedelta(days=1)))
    stay = same_day_stays.aggregate(stay=Avg(F("left_at") - F("arrived_at")))["stay"]
    rules = load_holidays()
    return MonthFigures(
        month, [_day(day, counted, rules) for day in month.days], [hours.get(n, 0) for n in range(24)], stay
    )


def _day(day: Day, counted: dict[tuple[date, str], int], rules: Holidays) -> DayCount:
    words = ("came", VisitStatus.NOT_COME, VisitStatus.CUT, VisitStatus.EXPECTED)
    came, absent, cut, undecided = (counted.get((day.date, str(word)), 0) for word in words)
    return DayCount(day, came, absent, cut, undecided, _holiday(day.date, rules))


def _holiday(day: date, rules: Holidays) -> str | None:
    """Return the holiday's name. Public holidays count here even if the tenant excludes them: that is for schedules."""
    if day in rules.public and day not in rules.excluded:
        return rules.included.get(day) or rules.public[day]
    return rules.name_of(day)


def missing_texts(request: TenantRequest, month: Month) -> list[str]:
    """Return what a month's figures may be missing: visits before the portal, and guests and arrivals not loaded."""
    begun, log = request.tenant.created_at, freshness.freshness_for(request)[MirrorKind.HISTORIES]
    text = _("Visits recorded since %(at)s.") % {"at": moment_text(begun)} if begun > month.start else ""
    return list(
        filter(
            None, [text, freshness.describe_unread(request, MirrorKind.GUESTS), gaps.paused_text(log, is_brief=True)]
        )
    )


def file_lines(found: MonthFigures) -> Iterator[list[CellValue]]:
    """Yield the lines of the table for a file."""
    yield [
        _("Date"), _("Visits"), _("Arrived"), str(LABELS[VisitStatus.NOT_COME]), str(LABELS[VisitStatus.CUT]),
        str(LABELS[VisitStatus.EXPECTED]), _("Holiday"),
    ]  # fmt: skip
    for day in found.days:
        yield [day.day.date, day.total, day.came, day.not_come, day.cut, day.open, day.holiday or ""]


def draw_chart(found: MonthFigures) -> charts.StackedChart:
    """Return the bars, scaled to the busiest day."""
    return charts.stacked_chart(found.days, lambda day: {kind: getattr(day, kind) for kind in _COUNTS})
