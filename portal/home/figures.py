"""Count all figures of the overview in one SQL statement.

Each figure has a permission, is counted up to MOST, and uses an index. So it is fast with 200,000 members, too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, F, Max, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import JSONObject
from django.utils.functional import cached_property

from portal.devices import queries as doors
from portal.domain.alerts.models import Alert
from portal.domain.intents import queries as intents
from portal.domain.intents.states import UNDER_WAY, State
from portal.domain.keys import states as keys
from portal.domain.log import visibility
from portal.domain.mirror.models import DoorState, Key, KeyBox, KeyState, Member, PassController
from portal.domain.presence import hourly_counts, people
from portal.domain.presence.door_directions import DoorDirections
from portal.domain.presence.models import PassedHour
from portal.domain.visits import queries as visits
from portal.domain.visits.days import Day
from portal.domain.visits.visit_status import VisitStatus
from portal.home import entries
from portal.members import cleanup_lists
from portal.members.cleanup_lists import CleanupList, CountedRows
from portal.today import boards
from tenants.access import Access
from tenants.models import Tenant
from tenants.postgresql.date_limits import moment_from_json
from tenants.roles import Permission
from tenants.wording import Sentence, SentenceField

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
    def standings(self) -> dict[VisitStatus, int]:
        """Return the number of today's guests by visit status."""
        return {VisitStatus(each["standing"]): each["n"] for each in self.rows("standings")}

    @cached_property
    def last_doors(self) -> dict[str, int]:
        return {each["door"]: each["n"] for each in self.rows("last_doors")}


def count_figures(access: Access, now: datetime, known: DoorDirections) -> OverviewFigures:
    """Count the figures that this person may see. `known`: which doors are entries and which are exits."""
    columns = _always()
    if visibility.may_view_log(access):
        columns["any_passed"] = Exists(PassedHour.objects.all())
        columns["entries"] = ArraySubquery(
            hourly_counts.counts_of_days(entries.compared_days(access, now), known.exits)
        )
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
        "alerts_first": _first_rows(first, "kind", "subject", "severity", "facts"),
    }


def _doors(_now: datetime) -> Columns:
    loud = PassController.objects.filter(attention=True)
    by_state = loud.order_by().values("state").annotate(n=Count("pk"))
    told = (
        "device_id", "device_name", "state", "state_since", "is_since_seen", "known_at", "status", "status_as_of",
    )  # fmt: skip
    known = PassController.objects.order_by().values("tenant").annotate(at=Max("known_at"))
    return {
        "doors": _bounded_count(PassController.objects.all()),
        "unread": _bounded_count(PassController.objects.filter(known_at=None)),
        "doors_at": known.values("at"),
        "door_states": ArraySubquery(by_state.values(as_json=JSONObject(state=F("state"), n=F("n")))),
        "loud": _first_rows(doors.by_urgency().filter(attention=True), *told, most=LISTED),
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
    soon = cleanup_lists.members_to_review(CleanupList.ENDING).filter(use_end_key__lte=int((now + SOON).timestamp()))
    first = soon.order_by("use_end_key", "pk")
    return {
        "expired": _bounded_count(cleanup_lists.members_to_review(CleanupList.ENDED)),
        "ending": _bounded_count(soon),
        "ending_first": _first_rows(first, "member_id", "member_name", "use_date_end", most=NAMED),
    }


def _guests(now: datetime) -> Columns:
    by_standing = boards.visits_of_day(Day.today(), now).order_by().values("standing").annotate(n=Count("pk"))
    return {"standings": ArraySubquery(by_standing.values(as_json=JSONObject(standing=F("standing"), n=F("n"))))}


def _presence(now: datetime) -> Columns:
    present = visits.present_visits()
    return {
        "last_doors": ArraySubquery(people.count_by_last_door(now)),
        "guests_in": _bounded_count(present),
        "guests_going": _bounded_count(present.filter(suggested_leave_at__isnull=False)),
        "guests_unmarked": _bounded_count(visits.used_but_not_checked_in(now)),
    }


def _requests(access: Access) -> Columns:
    mine = intents.visible_to(access)
    uncertain = mine.filter(state=State.UNCERTAIN)
    return {
        "uncertain": _bounded_count(uncertain),
        "uncertain_first": _first_rows(uncertain.order_by("-pk"), "id", "title"),
        "under_way": _bounded_count(mine.filter(state__in=UNDER_WAY)),
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
