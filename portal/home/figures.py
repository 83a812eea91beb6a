"""Count all figures of the overview in one SQL statement, and compare today's entries with usual ones.

Each figure has a permission, is counted up to MOST, and uses an index. So it is fast with 200,000 members, too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, F, Max, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import JSONObject
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui import charts
from portal.base.ui.charts import PairChart
from portal.base.ui.times import local
from portal.devices import queries as doors
from portal.domain.alerts import overdue_keys as keys
from portal.domain.alerts.models import Alert
from portal.domain.history import visibility
from portal.domain.history.coverage import Coverage, GapKind, start_of_day
from portal.domain.intents import queries as intents
from portal.domain.intents.models import UNDER_WAY, State
from portal.domain.people.models import Member
from portal.domain.places.models import DoorState, Key, KeyBox, KeyState, PassController
from portal.domain.presence import passages, people
from portal.domain.presence.models import HourlyPassages
from portal.domain.presence.passages import WEEKS
from portal.domain.presence.people import DoorDirections
from portal.domain.visits import queries as visits
from portal.domain.visits.days import Day
from portal.domain.visits.visit_status import VisitStatus
from portal.members import lists
from portal.members.lists import CleanupList, CountedRows
from portal.today import boards
from tenants.access import Access
from tenants.models import Tenant
from tenants.postgresql.date_limits import moment_from_json
from tenants.roles import Permission
from tenants.sentences import Sentence, SentenceField

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


def entries_today(days: list[date], rows: Iterable[Mapping[str, Any]], known: Coverage, now: datetime) -> Entries:
    """Build the figures and the chart from the counts by hour. `days`: the counted days, today first."""
    counted = {local(hour): int(row["n"]) for row in rows if (hour := moment_from_json(row["hour"]))}
    by_day = {
        day: [counted.get(local(start_of_day(day) + timedelta(hours=hour)), 0) for hour in _HOURS] for day in days
    }
    today, at = by_day[days[0]], local(now)
    similar_days, label = _comparable_days(days[0], [day for day in days[1:] if _is_complete(day, known)])
    usual = (
        [round(sum(by_day[day][hour] for day in similar_days) / len(similar_days)) for hour in _HOURS]
        if similar_days
        else []
    )
    points = [
        (f"{hour:02d}:00", today[hour] if hour <= at.hour else None, usual[hour] if usual else None) for hour in _HOURS
    ]
    chart = charts.pair_chart(_("Entries by hour"), (_("Today"), label), points)
    return Entries(_headline(sum(today)), _usual_text(usual, at), chart)


def _is_complete(day: date, known: Coverage) -> bool:
    """Check whether the log is complete for this day."""
    gaps = known.gaps(start_of_day(day), start_of_day(day + timedelta(days=1)))
    return known.through is not None and all(gap.kind is GapKind.OUTAGE for gap in gaps)


def _comparable_days(today: date, days: Sequence[date]) -> tuple[list[date], str]:
    """Return the days to compare with and their name: the same weekday, else days of the same type."""
    same = [day for day in days if day.weekday() == today.weekday()]
    if same:
        return same, _("Usual for this weekday")
    is_rest = today.weekday() >= _SATURDAY
    alike = [day for day in days if (day.weekday() >= _SATURDAY) == is_rest]
    return alike, _("Usual on Saturday and Sunday") if is_rest else _("Usual from Monday to Friday")


def _headline(number: int) -> str:
    return ngettext("%(n)s entry today", "%(n)s entries today", number) % {"n": f"{number:,}"}


def _usual_text(usual: list[int], at: datetime) -> str:
    """Return a sentence with the usual number by this time. The current hour is counted in proportion."""
    if not usual:
        return ""
    so_far = round(sum(usual[: at.hour]) + usual[at.hour] * at.minute / 60)
    return _("Usually about %(n)s by now") % {"n": f"{so_far:,}"}


# Larger numbers are shown as "1,000+".
MOST = 1_000
# How many rows are named for a figure, and how many doors are listed.
NAMED, LISTED = 3, 12
SOON = timedelta(days=14)
Columns = dict[str, Any]


@dataclass(frozen=True)
class OverviewFigures:
    """The counted figures. A figure that the person may not see is not in `values`."""

    values: Mapping[str, Any]

    def number(self, name: str) -> int:
        return int(self.values.get(name) or 0)

    def rows(self, name: str) -> list[dict[str, Any]]:
        return list(self.values.get(name) or ())

    def has(self, name: str) -> bool:
        return name in self.values

    @cached_property
    def alerts(self) -> list[Alert]:
        """Return the most serious unassigned alerts."""
        return [Alert(**each) for each in self.rows("alerts_first")]

    @cached_property
    def door_states(self) -> dict[str, int]:
        """Return the number of doors that need attention by state, the most serious state first."""
        found = {each["state"]: each["n"] for each in self.rows("door_states")}
        return {state: found[state] for state in [*DoorState.values, ""] if state in found}

    @cached_property
    def doors(self) -> list[PassController]:
        """Return up to LISTED doors that need attention, the most serious first."""
        moments = ("state_since", "known_at", "status_as_of")
        return [
            PassController(**each | {name: moment_from_json(each[name]) for name in moments})
            for each in self.rows("loud")
        ]

    @cached_property
    def statuses(self) -> dict[VisitStatus, int]:
        """Return the number of today's guests by visit status."""
        return {VisitStatus(each["status"]): each["n"] for each in self.rows("statuses")}

    @cached_property
    def last_doors(self) -> dict[str, int]:
        return {each["door"]: each["n"] for each in self.rows("last_doors")}


def count_figures(access: Access, now: datetime, known: DoorDirections) -> OverviewFigures:
    """Count the figures that this person may see. `known`: which doors are entries and which are exits."""
    columns = _always()
    if visibility.may_view_log(access):
        columns["any_passed"] = Exists(HourlyPassages.objects.all())
        columns["entries"] = ArraySubquery(passages.counts_of_days(compared_days(access, now), known.exits))
    for permission, build in _COLUMNS_BY_PERMISSION.items():
        if access.can(permission):
            columns |= build(now)
    if people.may_see_members(access):
        columns |= _presence(now)
    if access.can(Permission.DEVICES_VIEW):
        columns |= _keys(access)
    columns |= _requests(access)
    return OverviewFigures(Tenant.objects.filter(pk=access.tenant.pk).values(**columns).get())


def _always() -> Columns:
    return {"any_member": Exists(Member.objects.all()), "any_door": Exists(PassController.objects.all())}


def _bounded_count(rows: QuerySet[Any]) -> CountedRows:
    return CountedRows(rows.order_by().values("pk")[: MOST + 1])


def _first_rows(rows: QuerySet[Any], *names: str, most: int = NAMED) -> ArraySubquery:
    return ArraySubquery(rows.values(as_json=JSONObject(**dict(zip(names, names, strict=True))))[:most])


def _alerts(_now: datetime) -> Columns:
    open_ones = Alert.objects.filter(closed_at=None, weight__gt=0)
    waiting = open_ones.filter(taken_by=None)
    first = waiting.order_by("-weight", "-pk")
    return {
        "alerts_waiting": _bounded_count(waiting),
        "alerts_taken": _bounded_count(open_ones.exclude(taken_by=None)),
        "alerts_first": _first_rows(first, "kind", "subject", "severity", "facts", "ended_at"),
    }


def _doors(_now: datetime) -> Columns:
    loud = PassController.objects.filter(attention=True)
    by_state = loud.order_by().values("state").annotate(n=Count("pk"))
    columns = (
        "device_id", "device_name", "state", "state_since", "is_since_seen", "known_at", "status", "status_as_of",
    )  # fmt: skip
    known = PassController.objects.order_by().values("tenant").annotate(at=Max("known_at"))
    return {
        "doors": _bounded_count(PassController.objects.all()),
        "unread": _bounded_count(PassController.objects.filter(known_at=None)),
        "doors_at": known.values("at"),
        "door_states": ArraySubquery(by_state.values(as_json=JSONObject(state=F("state"), n=F("n")))),
        "loud": _first_rows(doors.by_urgency().filter(attention=True), *columns, most=LISTED),
    }


def _keys(access: Access) -> Columns:
    """Count keys that are out, overdue and unknown, and key boxes by connection status.

    For people who may not see the log, keys are counted by the key boxes' readings alone.
    """
    state, since = keys.state_columns(by_log=visibility.may_view_log(access))
    out = Key.objects.filter(**{state: KeyState.OUT})
    late = out.filter(**{f"{since}__lte": keys.overdue_at()}).order_by(since, "pk")
    line = KeyTextTransform("cloud_com_status", "status")
    lines = KeyBox.objects.annotate(line=line).order_by().values("line").annotate(n=Count("pk"))
    named = late.annotate(box=F("key_box__key_device_name"))
    return {
        "keys_out": _bounded_count(out),
        "keys_late": _bounded_count(late),
        "keys_unknown": _bounded_count(Key.objects.filter(**{state: KeyState.UNKNOWN})),
        "box_lines": ArraySubquery(lines.values(as_json=JSONObject(line=F("line"), n=F("n")))),
        "keys_first": _first_rows(named, "unit_no", "unit_name", "box"),
    }


def _members(now: datetime) -> Columns:
    soon = lists.members_to_review(CleanupList.ENDING).filter(use_end_key__lte=int((now + SOON).timestamp()))
    first = soon.order_by("use_end_key", "pk")
    return {
        "expired": _bounded_count(lists.members_to_review(CleanupList.ENDED)),
        "ending": _bounded_count(soon),
        "ending_first": _first_rows(first, "member_id", "member_name", "use_date_end", most=NAMED),
    }


def _guests(now: datetime) -> Columns:
    by_status = boards.visits_of_day(Day.today(), now).order_by().values("status").annotate(n=Count("pk"))
    return {"statuses": ArraySubquery(by_status.values(as_json=JSONObject(status=F("status"), n=F("n"))))}


def _presence(now: datetime) -> Columns:
    present = visits.present_visits()
    return {
        "last_doors": ArraySubquery(people.count_by_last_door(now)),
        "guests_in": _bounded_count(present),
        "guests_going": _bounded_count(present.filter(suggested_leave_at__isnull=False)),
        "guests_unmarked": _bounded_count(visits.used_but_not_checked_in(now)),
    }


def _requests(access: Access) -> Columns:
    visible = intents.visible_to(access)
    uncertain = visible.filter(state=State.UNCERTAIN)
    return {
        "uncertain": _bounded_count(uncertain),
        "uncertain_first": _first_rows(uncertain.order_by("-pk"), "id", "title"),
        "under_way": _bounded_count(visible.filter(state__in=UNDER_WAY)),
    }


_COLUMNS_BY_PERMISSION: dict[Permission, Callable[[datetime], Columns]] = {
    Permission.ALERTS_VIEW: _alerts,
    Permission.DEVICES_VIEW: _doors,
    Permission.MEMBERS_VIEW: _members,
    Permission.GUESTS_VIEW: _guests,
}


def stored_title(title: str) -> Sentence | str:
    """Return the title of a request or a job from its stored text."""
    return SentenceField().from_db_value(title, None, None) or ""
