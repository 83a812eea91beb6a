"""The report of a week: entries, guests, alerts and staff's actions by day."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.files.cells import CellValue
from portal.base.ui.times import TOKYO, local
from portal.domain.alerts.models import Alert
from portal.domain.history.coverage import Coverage, load_coverage
from portal.domain.visits.models import Visit
from portal.reports.content import (
    AlertMonitoring,
    ReportContent,
    ReportFigure,
    ReportTable,
    before_portal_text,
    completeness,
    is_covered,
    lines_of_table,
    number_in,
    number_of,
    number_text,
    period_of_days,
    period_text,
    portal_begun_text,
    query_log,
)
from portal.reports.models import Report
from tenants.audit_log.queries import find_actions
from tenants.models import current_tenant

_SMALLEST_STEP = timedelta(microseconds=1)
_ALERTS_COLUMN = 4  # the column of alerts in the week's table
_PORTAL_COLUMNS = (3, 5)  # the week's columns that only the portal records: guests and staff actions
_BY_DAY_SQL = """
SELECT (at AT TIME ZONE 'Asia/Tokyo')::date,
       count(*) FILTER (WHERE category = ANY(%(used)s) AND member_id <> ''), count(*)
  FROM {history}
 WHERE tenant_id = %(tenant)s AND at >= %(since)s AND at < %(until)s AND NOT notified
 GROUP BY 1
"""


@dataclass(frozen=True)
class _DailyNumbers:
    """Numbers for each day: entries, records, guests, alerts, staff's actions.

    Uncertain numbers are texts: the log and alerts on days with gaps in the log, alerts before monitoring began, and
    guests and actions before the tenant was created.
    """

    since: datetime
    until: datetime
    monitoring: AlertMonitoring

    @cached_property
    def rows(self) -> list[Sequence[CellValue]]:
        log = {day: (used, records) for day, used, records in query_log(_BY_DAY_SQL, self.since, self.until)}
        guests = self._count(Visit.objects.filter(arrived_at__isnull=False), "arrived_at")
        alerts = self._count(Alert.objects.all(), "began_at")
        staff = self._count(find_actions().filter(by__isnull=False), "act_at")
        known, found = load_coverage(), list[Sequence[CellValue]]()
        day, end = local(self.since).date(), local(self.until - _SMALLEST_STEP).date()
        while day <= end:
            is_partial = self._is_partly_loaded(day, known)
            of_log = [number_of(each, is_at_least=is_partial, unknown=_("not loaded")) for each in log.get(day, (0, 0))]
            found.append(
                [
                    day,
                    *of_log,
                    _recorded(guests[day], day, is_at_least=is_partial),  # arrivals are also set by the log
                    self._monitored(alerts[day], day, is_at_least=is_partial),
                    _recorded(staff[day], day),
                ]
            )
            day += timedelta(days=1)
        return found

    def _is_partly_loaded(self, day: date, known: Coverage) -> bool:
        since, until = period_of_days(day, day)
        return not is_covered(known, max(since, self.since), min(until, self.until))

    def sum_of(self, column: int) -> int:
        return sum(number_in(row[column]) or 0 for row in self.rows)

    def is_doubtful(self, column: int) -> bool:
        """Check whether a column may have more than its sum, because a day is uncertain."""
        return any(not isinstance(row[column], int) for row in self.rows)

    def total_text(self, column: int) -> str:
        """Return the sum of a column as text; if there is none, why, where the reason is the same on all days."""
        texts = {str(row[column]) for row in self.rows}
        reason = texts.pop() if len(texts) == 1 else ""
        return number_text(self.sum_of(column), is_at_least=self.is_doubtful(column), unknown=reason)

    def _monitored(self, number: int, day: date, *, is_at_least: bool) -> CellValue:
        """Return a day's number of alerts."""
        since, until = period_of_days(day, day)
        if not self.monitoring.is_on_in(until):
            return number_of(number, is_at_least=True, unknown=_("not monitored"))
        return number_of(number, is_at_least=is_at_least or bool(self.monitoring.begun_text(since, until)))

    def _count(self, rows: Any, name: str) -> Counter[Any]:
        period = {f"{name}__gte": self.since, f"{name}__lt": self.until}
        found = rows.filter(**period).annotate(day=TruncDate(name, tzinfo=TOKYO)).order_by()
        return Counter(dict(found.values_list("day").annotate(n=Count("pk"))))


def _recorded(number: int, day: date, *, is_at_least: bool = False) -> CellValue:
    """Return a day's number of the portal's own records, which begin with the tenant."""
    since, _until = period_of_days(day, day)
    if since >= current_tenant().created_at:
        return number_of(number, is_at_least=is_at_least)
    return number_of(number, is_at_least=True, unknown=_("not recorded"))


def week_at_a_glance(report: Report) -> ReportContent:
    """Return the numbers of each day, and their sums compared with the period before."""
    monitoring = AlertMonitoring.load()
    now = _DailyNumbers(report.since, report.until, monitoring)
    before = _DailyNumbers(report.since - (report.until - report.since), report.since, monitoring)
    columns = [
        _("Day"),
        pgettext("log", "Entries"),
        _("Records"),
        _("Guests arrived"),
        _("Alerts"),
        _("Staff actions"),
    ]
    return ReportContent(
        title=_("Week at a glance"),
        about="",
        period=period_text(report.since, report.until),
        sheets=[ReportTable(_("Day by day"), columns, drawn=1, numbers=[1, 2, 3, 4, 5])],
        lines=lines_of_table(now.rows),
        figures=[_figure_with_comparison(columns[place], place, now, before) for place in (1, 3, _ALERTS_COLUMN, 5)],
        is_partial=any(now.is_doubtful(place) for place in range(1, len(columns))),
        complete=[
            *completeness(report),
            *monitoring.missing_text(report.since, report.until),
            *before_portal_text(report.since),
        ],
    )


def _figure_with_comparison(label: str, column: int, now: _DailyNumbers, before: _DailyNumbers) -> ReportFigure:
    """Return the sum of a column, compared with the period before if that is known."""
    is_comparable = before.sum_of(column) or not before.is_doubtful(column)
    beside = _("Previous period: %(n)s") % {"n": before.total_text(column)} if is_comparable else ""
    begun = portal_begun_text(now.since, now.until) if column in _PORTAL_COLUMNS else ""
    if column == _ALERTS_COLUMN:
        begun = now.monitoring.begun_text(now.since, now.until)
    return ReportFigure(label, now.total_text(column), beside, begun)
