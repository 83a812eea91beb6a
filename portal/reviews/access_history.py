"""Load a right's history for many members at once: since when it exists, who gave it, and its last use.

"Since when" uses staff's bulk and single edits, and differences between two readings of a member's rights. Without a
known change it is empty. "Who gave it" uses requests of staff here, also if their outcome is not known yet. "Last use"
checks only each member's newest records, so that its cost does not grow with the log.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from portal.areas import merging
from portal.base.ui.times import local
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.states import NOT_APPLIED, State
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import RowState
from portal.domain.mirror.door_areas import use_categories
from portal.domain.mirror.models import Area, History, RightsChange
from portal.reviews.models import Use
from portal.reviews.rights import RightKey
from tenants.models import AuditEntry
from tenants.scope import current_tenant_id

# How many of each member's newest records are checked.
MAX_RECORDS = 100
_RIGHTS = "devices_pass"
_SINGLE_OPERATIONS = ("create_member", "update_member")

_LAST_USE_SQL = """
SELECT wanted.member_id, told.device_id, max(told.at) FILTER (WHERE told.category = ANY(%(used)s)), count(*)
  FROM unnest(%(members)s::text[]) AS wanted (member_id)
 CROSS JOIN LATERAL (
    SELECT device_id, at, category FROM {history} AS h
     WHERE h.tenant_id = %(tenant)s AND h.member_id = wanted.member_id AND h.member_id <> ''
     ORDER BY at DESC LIMIT %(newest)s
 ) AS told
 GROUP BY 1, 2
"""


@dataclass(frozen=True)
class LastUse:
    """The latest day at each door (`days_by_door`), and the number of checked records (`record_count`)."""

    days_by_door: dict[str, date] = field(default_factory=dict)
    record_count: int = 0

    def of_area(self, doors: Collection[str]) -> tuple[Use, date | None]:
        """Return the last use of an area with these doors, as far as the newest records show it."""
        days = [day for door, day in self.days_by_door.items() if door in doors]
        if days:
            return Use.AREA, max(days)
        return (Use.ELSEWHERE if self.record_count >= MAX_RECORDS else Use.NEVER), None


@dataclass(frozen=True)
class HeldSince:
    """The time of a right's last change: after `begin` (None if not known), and by `end`."""

    begin: datetime | None
    end: datetime


def doors_by_area(area_ids: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the device IDs of each area by its ID; an empty set for an area that no longer exists."""
    found = {area_id: frozenset[str]() for area_id in area_ids}
    for area in Area.objects.filter(area_id__in=area_ids):
        entries = [each for each in area.devices_list if isinstance(each, dict)]
        found[area.area_id] = frozenset(str(each.get("device_id", "")) for each in entries)
    return found


def last_uses(member_ids: Collection[str]) -> dict[str, LastUse]:
    """Return each member's last uses of doors, from their newest records."""
    values: dict[str, Any] = {
        "tenant": current_tenant_id(), "members": list(member_ids), "newest": MAX_RECORDS, "used": use_categories()
    }  # fmt: skip
    doors: dict[str, dict[str, date]] = defaultdict(dict)
    records: dict[str, int] = defaultdict(int)
    with connection.cursor() as cursor:
        cursor.execute(_LAST_USE_SQL.format(history=History._meta.db_table), values)
        for member_id, device_id, at, count in cursor.fetchall():
            if at is not None:
                doors[member_id][device_id] = local(at).date()
            records[member_id] += count
    return {member_id: LastUse(doors[member_id], records[member_id]) for member_id in member_ids}


def held_since(keys: Collection[RightKey]) -> dict[RightKey, HeldSince]:
    """Return since when each person has this right. Rights without a known change are left out."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for member_id, area_id in keys:
        wanted[member_id].add(area_id)
    found: dict[RightKey, HeldSince] = {}
    edits = [
        *_bulk_edits(Row.objects.filter(_DONE, member_id__in=wanted)),
        *_single_edits(wanted, Q(state=State.SUCCEEDED)),
    ]
    for edit in [*edits, *_external_edits(wanted)]:
        for area_id in wanted[edit.member_id]:
            older = found.get((edit.member_id, area_id))
            if (older is None or edit.since.end > older.end) and edit.changes(area_id):
                found[edit.member_id, area_id] = edit.since
    return found


def granted_by(keys: Collection[RightKey], begins: Mapping[str, datetime]) -> dict[RightKey, dict[int, datetime]]:
    """Return who gave each right since the start of its area's period ({user: time of the latest}).

    Only requests of this portal are known. Requests that may still be carried out count as given.
    """
    wanted: dict[str, set[str]] = defaultdict(set)
    for member_id, area_id in keys:
        wanted[member_id].add(area_id)
    least = min(begins.values())
    recent = Q(part__intent__finished_at__gte=least) | Q(part__intent__finished_at=None)
    open_ones = Q(state__in=_OPEN, job__in=Job.objects.filter(created_at__gte=least), part__isnull=False)
    rows = Row.objects.filter(member_id__in=wanted)
    edits = [*_bulk_edits(rows.filter(_DONE).filter(recent)), *_bulk_edits(rows.filter(open_ones))]
    found: dict[RightKey, dict[int, datetime]] = defaultdict(dict)
    for edit in [*edits, *_single_edits(wanted, ~Q(state__in=NOT_APPLIED))]:
        for area_id in wanted[edit.member_id]:
            at, mine = edit.since.end, found[edit.member_id, area_id]
            if edit.by and at >= begins[area_id] and edit.gives(area_id):
                mine[edit.by] = max(at, mine.get(edit.by, at))
    return found


def members_changed_since(member_ids: Collection[str], since: datetime) -> set[str]:
    """Return the IDs of members whose rights staff may have changed since then."""
    recent = Q(part__intent__finished_at__gte=since) | Q(part__intent__finished_at=None)
    rows = Row.objects.filter(_DONE, recent, member_id__in=member_ids)
    targets = {target_of("member", member_id): member_id for member_id in member_ids}
    asked = Intent.objects.filter(Q(created_at__gte=since) | Q(finished_at__gte=since), target__in=targets)
    alone = asked.filter(operation__in=_SINGLE_OPERATIONS).values_list("target", flat=True)
    return {*rows.values_list("member_id", flat=True), *(targets[target] for target in alone)}


@dataclass(frozen=True)
class _RightsEdit:
    """A change of rights, with the person if known."""

    member_id: str
    before: Any
    after: Any
    since: HeldSince
    by: int | None = None

    def changes(self, area_id: str) -> bool:
        return merging.rights_for_area(self.before, area_id) != merging.rights_for_area(self.after, area_id)

    def gives(self, area_id: str) -> bool:
        return merging.gives_access(self.before, self.after, area_id)


_DONE, _OPEN = Q(state=RowState.SUCCEEDED, part__isnull=False), (RowState.SENT, RowState.UNCERTAIN)


def _bulk_edits(rows: QuerySet[Row]) -> Iterable[_RightsEdit]:
    """Yield the changes made by rows of jobs."""
    for row in rows.select_related("part__intent").iterator(chunk_size=500):
        body, intent = (row.content or {}).get("body", {}), row.part.intent if row.part else None
        if _RIGHTS in body and intent is not None:
            old = row.content.get("old", {}).get(_RIGHTS)
            yield _RightsEdit(row.member_id, old, body[_RIGHTS], _since_of(intent), intent.by_id)


def _single_edits(wanted: Mapping[str, Any], states: Q) -> Iterable[_RightsEdit]:
    """Yield the changes made by requests about one member."""
    targets = {target_of("member", member_id): member_id for member_id in wanted}
    asked = Intent.objects.filter(states, target__in=targets, operation__in=_SINGLE_OPERATIONS)
    intents = {str(each.pk): each for each in asked}
    trail = AuditEntry.objects.filter(intent_id__in=intents, action__in=_SINGLE_OPERATIONS) if intents else ()
    for entry in trail:
        after, intent = entry.after or {}, intents[entry.intent_id]
        if _RIGHTS in after:
            old = (entry.before or {}).get(_RIGHTS)
            yield _RightsEdit(targets[intent.target], old, after[_RIGHTS], _since_of(intent), intent.by_id)


def _since_of(intent: Intent) -> HeldSince:
    at = intent.finished_at or intent.created_at
    return HeldSince(at, at)


def _external_edits(wanted: Mapping[str, Any]) -> Iterable[_RightsEdit]:
    """Yield the differences between two readings: changes made outside the portal."""
    for row in RightsChange.objects.filter(member_id__in=wanted):
        yield _RightsEdit(
            row.member_id, row.before.get(_RIGHTS), row.after.get(_RIGHTS), HeldSince(row.since, row.read_at)
        )
