"""Reports from the log: who entered, and the week by day. The database counts, one partition at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from portal.base.ui.times import TOKYO, local
from portal.domain.alerts.models import Alert, Watch
from portal.domain.log import gaps
from portal.domain.mirror.coverage import Coverage, GapKind, load_coverage
from portal.domain.mirror.door_areas import directions_by_door, use_categories
from portal.domain.mirror.log_reader import LATE_SCHEDULE
from portal.domain.mirror.models import Area, History, Member
from portal.domain.visits.models import Visit
from portal.reports import periods
from portal.reports.content import CellValue, ReportContent, ReportFigure, ReportTable, lines_of_table, number_in
from portal.reports.models import Report
from portal.reports.periods import moment_text
from tenants.audit_log.queries import acts
from tenants.models import current_tenant
from tenants.scope import current_tenant_id

# The member columns that reports need; the others are large or encrypted.
MEMBER_COLUMNS = ("tenant_id", "member_id", "member_name", "member_code", "membergroup_name")
_BATCH_SIZE = 1000
_SMALLEST_STEP = timedelta(microseconds=1)
_ALERTS_COLUMN = 4  # the column of alerts in the week's table
# How far back the log is read again for records that devices reported late.
LATE_PERIOD = max(back for _, back in LATE_SCHEDULE.values())
_ENTRIES_SQL = """
SELECT member_id, max(member_name), count(*), min(at), max(at) FROM {history}
 WHERE tenant_id = %(tenant)s AND at >= %(since)s AND at < %(until)s AND category = ANY(%(used)s) AND member_id <> ''
   AND NOT notified AND (%(doors)s::text[] IS NULL OR device_id = ANY(%(doors)s::text[]))
 GROUP BY member_id ORDER BY count(*) DESC, member_id
"""
_BY_DAY_SQL = """
SELECT (at AT TIME ZONE 'Asia/Tokyo')::date,
       count(*) FILTER (WHERE category = ANY(%(used)s) AND member_id <> ''), count(*)
  FROM {history}
 WHERE tenant_id = %(tenant)s AND at >= %(since)s AND at < %(until)s AND NOT notified
 GROUP BY 1
"""


def completeness(report: Report) -> list[str]:
    """Return what is missing of the log in a report's period, or a sentence that nothing is missing."""
    known = load_coverage()
    if known.through is None:
        return [_("The activity log is not loaded.")]
    missing = [line.text for line in gaps.gap_notices(known, report.since, report.until)]
    if report.until > known.through:
        missing.append(_("Activity log until %(at)s.") % {"at": moment_text(known.through)})
    return [*(missing or [_("Activity log complete for this period.")]), *_late_records(report, known.through)]


def _late_records(report: Report, through: datetime) -> list[str]:
    """Return which records of a report's period may still arrive, although the log is loaded."""
    said = []
    if number := _notified(report.since, report.until).count():
        words = ngettext(
            "%(n)s record is known from a notification only and not counted yet.",
            "%(n)s records are known from notifications only and not counted yet.",
            number,
        )
        said.append(words % {"n": number_format(number, force_grouping=True)})
    if report.until > through - LATE_PERIOD:
        said.append(_("Devices that were offline may still report records of this period."))
    return said


def _notified(since: datetime, until: datetime) -> QuerySet[History]:
    return History.objects.filter(notified=True, at__gte=since, at__lt=until)


def is_complete(since: datetime, until: datetime) -> bool:
    """Check whether the log is complete for this time, as far as the portal knows."""
    return _is_complete(load_coverage(), since, until) and not _notified(since, until).exists()


def _is_complete(known: Coverage, since: datetime, until: datetime) -> bool:
    """Check the coverage. Outages do not count as gaps, because that time was read again."""
    missing = (gap for gap in known.gaps(since, until) if gap.kind is not GapKind.OUTAGE)
    return known.through is not None and until <= known.through and not any(missing)


def figure_of(label: str, n: int, *, is_at_least: bool = False, is_at_most: bool = False) -> ReportFigure:
    """Return a headline figure.

    `is_at_least`: there may be more. `is_at_most`: there may be fewer. Both: there may be fewer of those that are
    loaded.
    """
    return ReportFigure(label, _number_text(n, is_at_least=is_at_least, is_at_most=is_at_most))


def number_of(n: int, *, is_at_least: bool = False, is_at_most: bool = False) -> CellValue:
    """Return a number for a table. An uncertain number is a text, as in `figure_of`; a certain number stays an int."""
    return _number_text(n, is_at_least=is_at_least, is_at_most=is_at_most) if is_at_least or is_at_most else n


def _number_text(n: int, *, is_at_least: bool, is_at_most: bool = False) -> str:
    said = {"n": number_format(n, force_grouping=True)}
    if is_at_most:
        return (_("at most %(n)s of those loaded") if is_at_least else _("at most %(n)s")) % said
    return _("at least %(n)s") % said if is_at_least else said["n"]


def _at_least_or(n: int, unknown: str) -> str:
    """Return "at least n", or `unknown` if n is 0."""
    return _number_text(n, is_at_least=True) if n else unknown


def _execute(statement: str, since: datetime, until: datetime, **more: Any) -> Sequence[Any]:
    """Run a statement over the log of a period, and return its rows."""
    values = {"tenant": current_tenant_id(), "since": since, "until": until, "used": use_categories(), **more}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(history=History._meta.db_table), values)
        return list(cursor.fetchall())


def area_of(report: Report) -> Area | None:
    """Return the chosen area, or None if it no longer exists."""
    wanted = report.choices.get("area", "")
    return Area.objects.filter(area_id=wanted).first() if wanted else None


def doors_into(area: Area) -> list[str]:
    return [
        device_id for device_id, found in directions_by_door([area]).items() if any(lead.is_inward for lead in found)
    ]


def who_entered(report: Report) -> ReportContent:
    """Return who used a door (or a door into the area), the most frequent first. Empty if the area no longer exists."""
    area, at_least = area_of(report), not is_complete(report.since, report.until)
    chosen = bool(report.choices.get("area"))
    doors = (doors_into(area) if area else []) if chosen else None
    rows = _execute(_ENTRIES_SQL, report.since, report.until, doors=doors)
    person = [pgettext("person", "Name"), _("Member code"), _("Group")]
    columns = [*person, pgettext("log", "Entries"), _("First entry"), _("Last entry")]
    note = _("By records of use at doors that lead into this area.") if chosen else _("By records of use at any door.")
    gone = [_("This area is no longer there.")] if chosen and area is None else []
    content = ReportContent(
        title=_("Who entered"),
        about=report.choices.get("area_name", "") or _("All doors"),
        period=periods.period_text(report.since, report.until),
        sheets=[ReportTable(pgettext("report", "By person"), columns, note)],
        lines=(),
        figures=[
            figure_of(pgettext("report", "People"), len(rows), is_at_least=at_least),
            figure_of(pgettext("log", "Entries"), sum(row[2] for row in rows), is_at_least=at_least),
        ],
        complete=[*gone, *completeness(report)],
        is_partial=at_least or bool(gone),
    )
    content.lines = lines_of_table(0, _people(rows, content))
    return content


def _people(rows: Sequence[Any], content: ReportContent) -> Iterator[Sequence[CellValue]]:
    for at in range(0, len(rows), _BATCH_SIZE):
        some = rows[at : at + _BATCH_SIZE]
        ids = [row[0] for row in some]
        members = {each.member_id: each for each in Member.objects.filter(member_id__in=ids).only(*MEMBER_COLUMNS)}
        guests = name_guests([each for each in ids if each not in members], content)
        for member_id, name, count, first, last in some:
            member = members.get(member_id)
            known = (member.member_name, member.member_code, member.membergroup_name) if member else (name, "", "")
            if member_id in guests:
                known = (guests[member_id], "", _("Guest"))
            yield [*known, count, moment_text(first), moment_text(last)]


def name_guests(ids: Sequence[str], content: ReportContent) -> dict[str, str]:
    """Return the names of those IDs that are guests.

    `content.named_since` is set to the earliest end of their visits.
    """
    visits = Visit.objects.filter(guest_id__in=ids, erased_at=None).values_list(
        "guest_id", "guest_name", "use_date_end"
    )
    names = {}
    for guest_id, name, end in visits:
        names[str(guest_id)] = name
        content.named_since = min(end, content.named_since or end)
    return names


def unmonitored_text(since: datetime, until: datetime) -> list[str]:
    """Return a note about the time without alert monitoring; empty if the whole period was monitored."""
    watched = _monitored_since()
    if watched is not None and watched <= since:
        return []
    if watched is None or watched >= until:
        return [_("Alerts were not watched for in this period.")]
    return [_("Alerts since %(at)s.") % {"at": moment_text(watched)}]


def _monitored_since() -> datetime | None:
    watch = Watch.objects.first()
    return watch.since if watch is not None else None


def before_portal_text(since: datetime) -> list[str]:
    """Return a note since when the portal records guests and staff's actions; empty if before the period."""
    begun = current_tenant().created_at
    said = _("Guests and staff’s actions recorded since %(at)s.") % {"at": moment_text(begun)}
    return [said] if begun > since else []


@dataclass(frozen=True)
class _DailyNumbers:
    """Numbers for each day: entries, records, guests, alerts, staff's actions.

    Uncertain numbers are texts: the log and alerts on days with gaps in the log, alerts before monitoring began, and
    guests and actions before the tenant was created.
    """

    since: datetime
    until: datetime

    @cached_property
    def rows(self) -> list[Sequence[CellValue]]:
        log = {day: (used, records) for day, used, records in _execute(_BY_DAY_SQL, self.since, self.until)}
        guests = self._count(Visit.objects.filter(arrived_at__isnull=False), "arrived_at")
        alerts = self._count(Alert.objects.all(), "began_at")
        staff = self._count(acts().filter(by__isnull=False), "act_at")
        known, watched, begun = load_coverage(), _monitored_since(), current_tenant().created_at
        found: list[Sequence[CellValue]] = []
        day, end = local(self.since).date(), local(self.until - _SMALLEST_STEP).date()
        while day <= end:
            since, until = periods.period_of_days(day, day)
            whole = _is_complete(known, max(since, self.since), min(until, self.until))
            of_log = [each if whole else _at_least_or(each, _("not loaded")) for each in log.get(day, (0, 0))]
            came = number_of(guests[day], is_at_least=not whole)  # arrivals are also set by the log
            own = [
                told if since >= begun else _at_least_or(each, _("not recorded"))
                for told, each in ((came, guests[day]), (staff[day], staff[day]))
            ]
            if watched is None or watched >= until:
                seen: CellValue = _at_least_or(alerts[day], _("not monitored"))
            else:
                seen = number_of(alerts[day], is_at_least=not whole or watched > since)
            found.append([day.isoformat(), *of_log, own[0], seen, own[1]])
            day += timedelta(days=1)
        return found

    def sum_of(self, column: int) -> int:
        return sum(number_in(row[column]) or 0 for row in self.rows)

    def is_doubtful(self, column: int) -> bool:
        """Check whether a column may have more than its sum, because a day is uncertain."""
        return any(not isinstance(row[column], int) for row in self.rows)

    def _count(self, rows: Any, name: str) -> Counter[Any]:
        wanted = {f"{name}__gte": self.since, f"{name}__lt": self.until}
        found = rows.filter(**wanted).annotate(day=TruncDate(name, tzinfo=TOKYO)).order_by()
        return Counter(dict(found.values_list("day").annotate(n=Count("pk"))))


def week_at_a_glance(report: Report) -> ReportContent:
    """Return the numbers of each day, and their sums compared with the period before."""
    now, before = (
        _DailyNumbers(report.since, report.until),
        _DailyNumbers(report.since - (report.until - report.since), report.since),
    )
    columns = [
        _("Day"),
        pgettext("log", "Entries"),
        _("Records"),
        _("Guests arrived"),
        _("Alerts"),
        _("Staff’s actions"),
    ]
    return ReportContent(
        title=_("Week at a glance"),
        about="",
        period=periods.period_text(report.since, report.until),
        sheets=[ReportTable(_("Day by day"), columns, drawn=1)],
        lines=lines_of_table(0, now.rows),
        figures=[_figure_with_comparison(columns[place], place, now, before) for place in (1, 3, _ALERTS_COLUMN, 5)],
        is_partial=any(now.is_doubtful(place) for place in range(1, len(columns))),
        complete=[
            *completeness(report),
            *unmonitored_text(report.since, report.until),
            *before_portal_text(report.since),
        ],
    )


def _figure_with_comparison(label: str, column: int, now: _DailyNumbers, before: _DailyNumbers) -> ReportFigure:
    """Return the sum of a column, compared with the period before if that is known."""
    sums = [days.sum_of(column) for days in (now, before)]
    doubts = [days.is_doubtful(column) for days in (now, before)]
    told = [_number_text(n, is_at_least=doubt) for n, doubt in zip(sums, doubts, strict=True)]
    is_told = sums[1] or not doubts[1]
    return ReportFigure(label, told[0], _("Time before: %(n)s") % {"n": told[1]} if is_told else "")
