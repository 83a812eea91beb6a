"""Count today's entries by hour and compare them with the usual number for this day of the week."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui import charts
from portal.base.ui.charts import PairChart
from portal.base.ui.times import local
from portal.domain.mirror.coverage import Coverage, GapKind, start_of_day
from portal.domain.presence.hourly_counts import WEEKS
from tenants.access import Access
from tenants.postgresql.date_limits import moment_from_json
from tenants.roles import Permission

_HOURS, _SATURDAY = range(24), 5


@dataclass(frozen=True)
class Entries:
    """The entries today, and the usual number by this time (empty if it is not known)."""

    headline: str
    usual_text: str
    chart: PairChart


def compared_days(access: Access, now: datetime) -> list[date]:
    """Return the days to count: today and, with access to the whole log, the last week and earlier same weekdays."""
    today = local(now).date()
    if not access.can(Permission.LOGS_VIEW):
        return [today]
    before = [*range(1, 8), *(7 * week for week in range(2, WEEKS + 1))]
    return [today, *(today - timedelta(days=number) for number in before)]


def entries_today(looked: list[date], rows: Iterable[Mapping[str, Any]], known: Coverage, now: datetime) -> Entries:
    """Build the figures and the chart from the counts by hour. `looked`: the counted days, today first."""
    counted = {local(hour): int(row["n"]) for row in rows if (hour := moment_from_json(row["hour"]))}
    by_day = {
        day: [counted.get(local(start_of_day(day) + timedelta(hours=hour)), 0) for hour in _HOURS] for day in looked
    }
    today, at = by_day[looked[0]], local(now)
    like, called = _comparable_days(looked[0], [day for day in looked[1:] if _is_complete(day, known)])
    usual = [round(sum(by_day[day][hour] for day in like) / len(like)) for hour in _HOURS] if like else []
    points = [
        (f"{hour:02d}:00", today[hour] if hour <= at.hour else None, usual[hour] if usual else None) for hour in _HOURS
    ]
    chart = charts.pair_chart(_("Entries by hour"), (_("Today"), called), points)
    return Entries(_headline(sum(today)), _usual_text(usual, at), chart)


def _is_complete(day: date, known: Coverage) -> bool:
    """Check whether the log is complete for this day."""
    gaps = known.gaps(start_of_day(day), start_of_day(day + timedelta(days=1)))
    return known.through is not None and all(gap.kind is GapKind.OUTAGE for gap in gaps)


def _comparable_days(today: date, whole: Sequence[date]) -> tuple[list[date], str]:
    """Return the days to compare with and their name: the same weekday, else days of the same type."""
    same = [day for day in whole if day.weekday() == today.weekday()]
    if same:
        return same, _("Usual for this weekday")
    is_rest = today.weekday() >= _SATURDAY
    alike = [day for day in whole if (day.weekday() >= _SATURDAY) == is_rest]
    return alike, _("Usual on Saturday and Sunday") if is_rest else _("Usual from Monday to Friday")


def _headline(number: int) -> str:
    return ngettext("%(n)s entry today", "%(n)s entries today", number) % {"n": f"{number:,}"}


def _usual_text(usual: list[int], at: datetime) -> str:
    """Return a sentence with the usual number by this time. The current hour is counted in proportion."""
    if not usual:
        return ""
    so_far = round(sum(usual[: at.hour]) + usual[at.hour] * at.minute / 60)
    return _("Usually about %(n)s by now") % {"n": f"{so_far:,}"}
