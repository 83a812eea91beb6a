"""The content of a report: figures, tables and period, and how complete the data is.

It is written as a page, a PDF and a workbook. The head (`ReportHead`) is small and saved with the report. Tables can be
long, so their lines are yielded and never kept in memory together.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from portal.base.files.cells import CellValue
from portal.base.files.cells import cell_text as file_text
from portal.base.ui.times import TOKYO, local, moment_text
from portal.domain.alerts.models import DetectionState
from portal.domain.history import gaps
from portal.domain.history.coverage import Coverage, GapKind, load_coverage
from portal.domain.history.models import History
from portal.domain.history.reading import LATE_SCHEDULE
from portal.domain.places.models import Area
from portal.domain.places.queries import use_categories
from portal.domain.visits.models import Visit
from portal.reports.models import Report
from tenants.models import current_tenant
from tenants.scope import current_tenant_id

# (table index, cells)
TableLine = tuple[int, Sequence[CellValue]]
_DAY = timedelta(days=1)
_MAX_BARS = 31
# The member columns that reports need; the others are large or encrypted.
MEMBER_COLUMNS = ("tenant_id", "member_id", "member_name", "member_code", "membergroup_name")
# How far back the log is read again for records that devices reported late.
LATE_PERIOD = max(back for _, back in LATE_SCHEDULE.values())


@dataclass(frozen=True)
class ReportFigure:
    """A headline figure, with its uncertainty as text.

    `beside`: the value to compare with. `begun`: since when it is counted, if that is after the period's start.
    """

    label: str
    value: str
    beside: str = ""
    begun: str = ""

    @property
    def more(self) -> list[str]:
        """Return the lines below the value."""
        return [line for line in (self.beside, self.begun) if line]


@dataclass(frozen=True)
class ReportTable:
    """A table: its title, column headings, and a note about all lines.

    `drawn` is the column that is drawn as bars, labelled by the first column; 0 for none. `numbers` are the columns of
    numbers, in which some or all cells may be texts ("at least 5").
    """

    title: str
    columns: Sequence[str]
    note: str = ""
    drawn: int = 0
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class ReportHead:
    """The head of a report. `complete`: sentences about how complete the data is, shown on every page.

    `is_partial`: some data was missing when the report was created; lists of reports show this, too.
    """

    title: str
    about: str
    period: str
    figures: Sequence[ReportFigure] = ()
    sheets: Sequence[ReportTable] = ()
    complete: Sequence[str] = ()
    is_partial: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the values to save."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "ReportHead":
        """Return the head from its saved values."""
        figures = [ReportFigure(**each) for each in content["figures"]]
        sheets = [ReportTable(**each) for each in content["sheets"]]
        return cls(**{**content, "figures": figures, "sheets": sheets})


@dataclass
class ReportContent:
    """The content that a kind of report creates. Read `lines` once, and `head` after that: figures may count the lines.

    `named_since`: see `Report.named_since`. It is also final only when all lines have been read.
    """

    title: str
    about: str
    period: str
    sheets: Sequence[ReportTable]
    lines: Iterable[TableLine]
    figures: list[ReportFigure] = field(default_factory=list)
    complete: Sequence[str] = ()
    named_since: datetime | None = None
    is_partial: bool = False

    @property
    def head(self) -> ReportHead:
        period = _("%(period)s, Japan time (+09:00)") % {"period": self.period} if self.period else ""
        parts = (tuple(self.figures), tuple(self.sheets), tuple(self.complete), self.is_partial)
        return ReportHead(self.title, self.about, period, *parts)


def cell_text(cell: CellValue) -> str:
    """Return the text of a cell, as a page and a PDF show it."""
    if isinstance(cell, datetime):
        return moment_text(cell)
    return f"{cell:,}" if isinstance(cell, int) else file_text(cell)


def printed_lines(lines: Iterable[TableLine]) -> Iterator[TableLine]:
    """Yield the lines as a page and a PDF show them: everything but numbers is text."""
    for number, values in lines:
        yield number, [cell if isinstance(cell, int) else cell_text(cell) for cell in values]


def numeric_columns(table: ReportTable, rows: Sequence[Sequence[CellValue]]) -> list[bool]:
    """Return for each column whether it has numbers, which are aligned at the right."""
    return [
        place in table.numbers or any(isinstance(row[place], int) for row in rows)
        for place in range(len(table.columns))
    ]


def bars_of(table: ReportTable, rows: Sequence[Sequence[CellValue]]) -> list[tuple[str, int, str]]:
    """Return each bar above a table with its day, number and text; none if there are too many to be read.

    The bar of an unknown number has no height, and its text.
    """
    if not table.drawn or len(rows) > _MAX_BARS:
        return []
    return [(str(row[0]), number_in(row[table.drawn]) or 0, cell_text(row[table.drawn])) for row in rows]


def number_in(cell: CellValue) -> int | None:
    """Return the number in a cell, also from a text such as "at least 61"; None if there is none."""
    digits = "".join(each for each in str(cell) if each.isdecimal())
    return int(digits) if digits else None


def lines_of_table(rows: Iterable[Sequence[CellValue]]) -> Iterator[TableLine]:
    """Yield rows as lines of a report's only table."""
    for cells in rows:
        yield 0, cells


def period_of_days(first: date, last: date) -> tuple[datetime, datetime]:
    """Return these days, both included, as [since, until)."""
    return _midnight(first), _midnight(last + _DAY)


def period_text(since: datetime, until: datetime) -> str:
    """Return the first and the last day as text."""
    first, last = local(since).date(), (local(until) - timedelta(microseconds=1)).date()
    return first.isoformat() if first == last else f"{first.isoformat()} – {last.isoformat()}"


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), TOKYO)


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
    texts = []
    if number := _notified(report.since, report.until).count():
        text = ngettext(
            "%(n)s record not counted yet: received as a notification only.",
            "%(n)s records not counted yet: received as notifications only.",
            number,
        )
        texts.append(text % {"n": number_format(number, force_grouping=True)})
    if report.until > through - LATE_PERIOD:
        texts.append(_("Devices that were offline may still send records of this period."))
    return texts


def _notified(since: datetime, until: datetime) -> QuerySet[History]:
    return History.objects.filter(notified=True, at__gte=since, at__lt=until)


def is_complete(since: datetime, until: datetime) -> bool:
    """Check whether the log is complete for this time, as far as the portal knows."""
    return is_covered(load_coverage(), since, until) and not _notified(since, until).exists()


def is_covered(known: Coverage, since: datetime, until: datetime) -> bool:
    """Check whether the loaded log covers this time. Outages do not count as gaps, because that time was read again."""
    missing = (gap for gap in known.gaps(since, until) if gap.kind is not GapKind.OUTAGE)
    return known.through is not None and until <= known.through and not any(missing)


def figure_of(
    label: str, n: int, *, is_at_least: bool = False, is_at_most: bool = False, begun: str = "", unknown: str = ""
) -> ReportFigure:
    """Return a headline figure.

    `is_at_least`: there may be more. `is_at_most`: there may be fewer. Both: there may be fewer of those that are
    loaded. `unknown`: why it is not known, instead of "at least 0". `begun`: see `ReportFigure`.
    """
    text = number_text(n, is_at_least=is_at_least, is_at_most=is_at_most, unknown=unknown)
    return ReportFigure(label, text, begun=begun)


def number_of(n: int, *, is_at_least: bool = False, is_at_most: bool = False, unknown: str = "") -> CellValue:
    """Return a number for a table. An uncertain number is a text, as in `figure_of`; a certain number stays an int."""
    if not is_at_least and not (is_at_most and n):
        return n
    return number_text(n, is_at_least=is_at_least, is_at_most=is_at_most, unknown=unknown)


def number_text(n: int, *, is_at_least: bool = False, is_at_most: bool = False, unknown: str = "") -> str:
    """Return a number as text; see `figure_of`."""
    values = {"n": number_format(n, force_grouping=True)}
    if is_at_most and n:
        return (_("at most %(n)s of those loaded") if is_at_least else _("at most %(n)s")) % values
    if is_at_least:
        return _("at least %(n)s") % values if n else unknown or pgettext("number", "unknown")
    return values["n"]


def query_log(statement: str, since: datetime, until: datetime, **more: Any) -> Sequence[Any]:
    """Run a statement over the log of a period, and return its rows."""
    values = {"tenant": current_tenant_id(), "since": since, "until": until, "used": use_categories(), **more}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(history=History._meta.db_table), values)
        return list(cursor.fetchall())


def area_of(report: Report) -> Area | None:
    """Return the chosen area, or None if it no longer exists."""
    area_id = report.choices.get("area", "")
    return Area.objects.filter(area_id=area_id).first() if area_id else None


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


@dataclass(frozen=True)
class AlertMonitoring:
    """Since when alerts are monitored; None if they are not."""

    since: datetime | None

    @classmethod
    def load(cls) -> "AlertMonitoring":
        watch = DetectionState.objects.first()
        return cls(watch.since if watch is not None else None)

    def is_on_in(self, until: datetime) -> bool:
        """Check whether alerts were monitored before this time."""
        return self.since is not None and self.since < until

    def missing_text(self, since: datetime, until: datetime) -> list[str]:
        """Return a note about the time without monitoring; empty if the whole period was monitored."""
        if self.since is None or self.since >= until:
            return [_("Alerts were not monitored in this period.")]
        if self.since <= since:
            return []
        return [_("Alerts monitored since %(at)s.") % {"at": moment_text(self.since)}]

    def begun_text(self, since: datetime, until: datetime) -> str:
        """Return since when alerts are counted; empty if since before the period, or not at all."""
        if self.since is None or not since < self.since < until:
            return ""
        return _("Since the portal was connected")


def portal_begun_text(since: datetime, until: datetime) -> str:
    """Return since when a figure of the portal's own records is counted; empty if that is not in the period."""
    return _("Since the portal was connected") if since < current_tenant().created_at < until else ""


def unrecorded_text(until: datetime) -> str:
    """Return why the portal has no records of a period before it was connected; empty if it may have some."""
    return _("not recorded") if current_tenant().created_at >= until else ""


def before_portal_text(since: datetime) -> list[str]:
    """Return a note since when the portal records guests and staff's actions; empty if before the period."""
    begun = current_tenant().created_at
    text = _("Guests and staff actions since the portal was connected (%(at)s).") % {"at": moment_text(begun)}
    return [text] if begun > since else []
