"""What is known of a right besides itself: since when it holds, and when it was last used. For some members at once.

Since when: what staff did by edits of many and to one member alone, and what two readings of a member's rights tell
apart. Nothing before is known: a right without a change keeps both ends of its span empty. Last use: of each member the
newest records alone are looked at, so that a year of comings and goings costs as little as a week.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db import connection

from portal.areas import merging
from portal.core.intents.models import Intent, target_of
from portal.core.intents.states import State
from portal.core.jobs.models import Row
from portal.core.jobs.states import RowState
from portal.core.mirror.models import Area, History, RightsChange
from portal.core.mirror.places import USED
from portal.core.ui.times import local
from portal.reviews.models import Use
from portal.reviews.rights import Key
from tenants.models import AuditEntry
from tenants.scope import current_tenant_id

#: Of each member so many of the newest records are looked at.
NEWEST = 100
_RIGHTS = "devices_pass"
_ALONE = ("create_member", "update_member")

_LAST = """
SELECT wanted.member_id, told.device_id, max(told.at) FILTER (WHERE told.category = %(used)s), count(*)
  FROM unnest(%(members)s::text[]) AS wanted (member_id)
 CROSS JOIN LATERAL (
    SELECT device_id, at, category FROM {history} AS h
     WHERE h.tenant_id = %(tenant)s AND h.member_id = wanted.member_id AND h.member_id <> ''
     ORDER BY at DESC LIMIT %(newest)s
 ) AS told
 GROUP BY 1, 2
"""


@dataclass(frozen=True)
class Used:
    """`at_doors`: the latest day at each door; `records`: how many of the newest records there were."""

    at_doors: dict[str, date] = field(default_factory=dict)
    records: int = 0

    def of_area(self, doors: Collection[str]) -> tuple[Use, date | None]:
        """Return the last use of an area with these doors, as far as the newest records tell."""
        days = [day for door, day in self.at_doors.items() if door in doors]
        if days:
            return Use.AREA, max(days)
        return (Use.ELSEWHERE if self.records >= NEWEST else Use.NEVER), None


@dataclass(frozen=True)
class Since:
    """The right became what it is after `begin` (None: not known) and by `end`."""

    begin: datetime | None
    end: datetime


def doors_of(area_ids: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the devices of each area by its ID; of one that is gone, none."""
    found = {area_id: frozenset[str]() for area_id in area_ids}
    for area in Area.objects.filter(area_id__in=area_ids):
        entries = [each for each in area.devices_list if isinstance(each, dict)]
        found[area.area_id] = frozenset(str(each.get("device_id", "")) for each in entries)
    return found


def last_used(member_ids: Collection[str]) -> dict[str, Used]:
    """Return what the newest records of each of these members tell of the doors they used."""
    values: dict[str, Any] = {
        "tenant": current_tenant_id(), "members": list(member_ids), "newest": NEWEST, "used": USED
    }  # fmt: skip
    doors: dict[str, dict[str, date]] = defaultdict(dict)
    records: dict[str, int] = defaultdict(int)
    with connection.cursor() as cursor:
        cursor.execute(_LAST.format(history=History._meta.db_table), values)
        for member_id, device_id, at, count in cursor.fetchall():
            if at is not None:
                doors[member_id][device_id] = local(at).date()
            records[member_id] += count
    return {member_id: Used(doors[member_id], records[member_id]) for member_id in member_ids}


def held_since(keys: Collection[Key]) -> dict[Key, Since]:
    """Return since when each of these people has this right; those without a known change are absent."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for member_id, area_id in keys:
        wanted[member_id].add(area_id)
    found: dict[Key, Since] = {}
    for member_id, before, after, since in [*_edited(wanted), *_alone(wanted), *_elsewhere(wanted)]:
        for area_id in wanted[member_id]:
            older = found.get((member_id, area_id))
            if (older is None or since.end > older.end) and _differs(before, after, area_id):
                found[member_id, area_id] = since
    return found


_Told = Iterable[tuple[str, Any, Any, Since]]


def _differs(before: Any, after: Any, area_id: str) -> bool:
    return merging.about(before, area_id) != merging.about(after, area_id)


def _edited(wanted: Mapping[str, Any]) -> _Told:
    """Yield rows of jobs that were carried out."""
    rows = Row.objects.filter(member_id__in=wanted, state=RowState.SUCCEEDED, part__isnull=False)
    for row in rows.select_related("part__intent").iterator(chunk_size=500):
        body, intent = (row.content or {}).get("body", {}), row.part.intent if row.part else None
        if _RIGHTS in body and intent is not None:
            at = intent.finished_at or intent.created_at
            yield row.member_id, row.content.get("old", {}).get(_RIGHTS), body[_RIGHTS], Since(at, at)


def _alone(wanted: Mapping[str, Any]) -> _Told:
    """Yield requests about one member alone."""
    targets = {target_of("member", member_id): member_id for member_id in wanted}
    asked = Intent.objects.filter(target__in=targets, operation__in=_ALONE, state=State.SUCCEEDED)
    intents = {str(each.pk): each for each in asked}
    trail = AuditEntry.objects.filter(intent_id__in=intents, action__in=_ALONE) if intents else ()
    for entry in trail:
        after, intent = entry.after or {}, intents[entry.intent_id]
        if _RIGHTS in after:
            at = intent.finished_at or intent.created_at
            yield targets[intent.target], (entry.before or {}).get(_RIGHTS), after[_RIGHTS], Since(at, at)


def _elsewhere(wanted: Mapping[str, Any]) -> _Told:
    """Yield what two readings tell apart, done elsewhere."""
    for row in RightsChange.objects.filter(member_id__in=wanted):
        yield row.member_id, row.before.get(_RIGHTS), row.after.get(_RIGHTS), Since(row.since, row.read_at)
