"""A person's right to an area: its digest and wording, since when it exists, who gave it, and its last use.

Rights with the same meaning have the same digest. It consists of the digests of the passes in `areas` (SHA-256 of their
canonical form). A right to every area is marked with a star. Passes that never allow access do not count as a right.

"Since when" uses staff's bulk and single edits, and differences between two readings of a member's rights. Without a
known change it is empty. "Who gave it" uses requests of staff here, also if their outcome is not known yet. "Last use"
checks only each member's newest records, so that its cost does not grow with the log.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from portal.areas import access_counts, merging
from portal.areas.models import EVERYWHERE, Grant, Pass
from portal.base.ui.times import local
from portal.domain.history.models import History
from portal.domain.intents.models import NOT_APPLIED, Intent, State, target_of
from portal.domain.jobs.models import Job, Row, RowState
from portal.domain.people.models import Member, RightsChange
from portal.domain.places.models import Area
from portal.domain.places.queries import use_categories
from portal.domain.rights import words
from portal.reviews.models import Use
from tenants.models import AuditEntry
from tenants.scope import current_tenant_id

# In place of a digest: the person is no longer in the list of members.
LEFT = "-"
# In place of a digest: the person is a member, but their rights are not loaded (for example after they came back).
UNREAD = "?"
# There is no right to decide about.
NO_RIGHT = ("", LEFT, UNREAD)
#: (member ID, area ID)
RightKey = tuple[str, str]
_STAR = "*"
# How many of each member's newest records are checked.
MAX_RECORDS = 100
_RIGHTS = "devices_pass"
_SINGLE_OPERATIONS = ("create_member", "update_member")
_LAST_USE_SQL = """
SELECT member.member_id, record.device_id, max(record.at) FILTER (WHERE record.category = ANY(%(used)s)), count(*)
  FROM unnest(%(members)s::text[]) AS member (member_id)
 CROSS JOIN LATERAL (
    SELECT device_id, at, category FROM {history} AS h
     WHERE h.tenant_id = %(tenant)s AND h.member_id = member.member_id AND h.member_id <> ''
     ORDER BY at DESC LIMIT %(newest)s
 ) AS record
 GROUP BY 1, 2
"""
_DONE, _OPEN = Q(state=RowState.SUCCEEDED, part__isnull=False), (RowState.SENT, RowState.UNCERTAIN)


def right_digest(devices_pass: Any, area_id: str) -> str:
    """Return the digest of the right to one area, from rights in the service's format; empty if there is none."""
    passes = access_counts.passes_by_area({"devices_pass": devices_pass})
    held = [(area, body) for area, body in passes if area in (area_id, EVERYWHERE)]
    return _join(
        (area, access_counts.pass_digest(body))
        for area, body in held
        if access_counts.pass_kind(body) != Pass.Kind.NEVER
    )


def current_rights(keys: Collection[RightKey]) -> dict[RightKey, str]:
    """Return the digest of each person's present right to the area.

    It is empty for no right, LEFT if the person is not a member any more, and UNREAD if their rights are not loaded.
    """
    ids = {member_id for member_id, _area in keys}
    members = Member.objects.filter(member_id__in=ids, gone_at__isnull=True).only("member_id", "rights_read_at")
    return rights_of_keys(keys, list(members))


def rights_of_keys(keys: Collection[RightKey], members: Sequence[Member]) -> dict[RightKey, str]:
    """Return the same for `members`, the rows of those people who are still members."""
    is_read = {member.member_id: member.rights_read_at is not None for member in members}
    held = rights_of_members({member.pk: member.member_id for member in members}, {area for _member, area in keys})
    return {key: _current_right(key, held, is_read) for key in keys}


def _current_right(key: RightKey, held: Mapping[str, Mapping[str, str]], is_read: Mapping[str, bool]) -> str:
    member_id, area_id = key
    if member_id not in is_read:
        return LEFT
    return held[member_id].get(area_id, "") if is_read[member_id] else UNREAD


def rights_of_members(members: Mapping[int, str], area_ids: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the digests of members' ({pk: member ID}) rights by area. Areas without a right are left out."""
    rows = Grant.objects.filter(member_id__in=members, area_id__in=[*area_ids, EVERYWHERE])
    rows = rows.exclude(held__kind=Pass.Kind.NEVER)
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for pk, area_id, digest in rows.values_list("member_id", "area_id", "held__digest"):
        found[pk].append((area_id, digest))
    digests = {}
    for pk, member_id in members.items():
        own = found.get(pk, [])
        each = {area: _join(one for one in own if one[0] in (area, EVERYWHERE)) for area in area_ids}
        digests[member_id] = {area: digest for area, digest in each.items() if digest}
    return digests


def passes_behind(digests: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the passes of each digest: [{"everywhere", "pass"}]."""
    parts_by_digest = {digest: _split(digest) for digest in digests if digest not in NO_RIGHT}
    passes = Pass.objects.filter(digest__in={digest for parts in parts_by_digest.values() for _star, digest in parts})
    known = dict(passes.values_list("digest", "body"))
    return {
        text: [{"everywhere": star, "pass": known.get(digest)} for star, digest in parts]
        for text, parts in parts_by_digest.items()
    }


def right_text(right: Iterable[Mapping[str, Any]]) -> str:
    """Return a right as text."""
    texts = [_("Every area") if each["everywhere"] else words.pass_text(each["pass"]) for each in right]
    return " · ".join(texts) or _("None")


def _join(held: Iterable[tuple[str, str]]) -> str:
    return "+".join(sorted((_STAR if area == EVERYWHERE else "") + digest for area, digest in held))


def _split(text: str) -> list[tuple[bool, str]]:
    return [(part.startswith(_STAR), part.removeprefix(_STAR)) for part in text.split("+")]


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
    areas_of = _areas_by_member(keys)
    found: dict[RightKey, HeldSince] = {}
    edits = [
        *_bulk_edits(Row.objects.filter(_DONE, member_id__in=areas_of)),
        *_single_edits(areas_of, Q(state=State.SUCCEEDED)),
    ]
    for edit in [*edits, *_external_edits(areas_of)]:
        for area_id in areas_of[edit.member_id]:
            older = found.get((edit.member_id, area_id))
            if (older is None or edit.since.end > older.end) and edit.changes(area_id):
                found[edit.member_id, area_id] = edit.since
    return found


def granted_by(keys: Collection[RightKey], begins: Mapping[str, datetime]) -> dict[RightKey, dict[int, datetime]]:
    """Return who gave each right since the start of its area's period ({user: time of the latest}).

    Only requests of this portal are known. Requests that may still be carried out count as given.
    """
    areas_of = _areas_by_member(keys)
    least = min(begins.values())
    recent = Q(part__intent__finished_at__gte=least) | Q(part__intent__finished_at=None)
    open_ones = Q(state__in=_OPEN, job__in=Job.objects.filter(created_at__gte=least), part__isnull=False)
    rows = Row.objects.filter(member_id__in=areas_of)
    edits = [*_bulk_edits(rows.filter(_DONE).filter(recent)), *_bulk_edits(rows.filter(open_ones))]
    found: dict[RightKey, dict[int, datetime]] = defaultdict(dict)
    for edit in [*edits, *_single_edits(areas_of, ~Q(state__in=NOT_APPLIED))]:
        for area_id in areas_of[edit.member_id]:
            at, granters = edit.since.end, found[edit.member_id, area_id]
            if edit.by and at >= begins[area_id] and edit.gives(area_id):
                granters[edit.by] = max(at, granters.get(edit.by, at))
    return found


def _areas_by_member(keys: Iterable[RightKey]) -> dict[str, set[str]]:
    areas: dict[str, set[str]] = defaultdict(set)
    for member_id, area_id in keys:
        areas[member_id].add(area_id)
    return areas


def members_changed_since(member_ids: Collection[str], since: datetime) -> set[str]:
    """Return the IDs of members whose rights staff may have changed since then."""
    recent = Q(part__intent__finished_at__gte=since) | Q(part__intent__finished_at=None)
    rows = Row.objects.filter(_DONE, recent, member_id__in=member_ids)
    targets = {target_of("member", member_id): member_id for member_id in member_ids}
    requests = Intent.objects.filter(Q(created_at__gte=since) | Q(finished_at__gte=since), target__in=targets)
    single_targets = requests.filter(operation__in=_SINGLE_OPERATIONS).values_list("target", flat=True)
    return {*rows.values_list("member_id", flat=True), *(targets[target] for target in single_targets)}


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


def _bulk_edits(rows: QuerySet[Row]) -> Iterable[_RightsEdit]:
    """Yield the changes made by rows of jobs."""
    for row in rows.select_related("part__intent").iterator(chunk_size=500):
        body, intent = (row.content or {}).get("body", {}), row.part.intent if row.part else None
        if _RIGHTS in body and intent is not None:
            old = row.content.get("old", {}).get(_RIGHTS)
            yield _RightsEdit(row.member_id, old, body[_RIGHTS], _since_of(intent), intent.by_id)


def _single_edits(member_ids: Mapping[str, Any], states: Q) -> Iterable[_RightsEdit]:
    """Yield the changes made by requests about one member."""
    targets = {target_of("member", member_id): member_id for member_id in member_ids}
    requests = Intent.objects.filter(states, target__in=targets, operation__in=_SINGLE_OPERATIONS)
    intents = {str(each.pk): each for each in requests}
    trail = AuditEntry.objects.filter(intent_id__in=intents, action__in=_SINGLE_OPERATIONS) if intents else ()
    for entry in trail:
        after, intent = entry.after or {}, intents[entry.intent_id]
        if _RIGHTS in after:
            old = (entry.before or {}).get(_RIGHTS)
            yield _RightsEdit(targets[intent.target], old, after[_RIGHTS], _since_of(intent), intent.by_id)


def _since_of(intent: Intent) -> HeldSince:
    at = intent.finished_at or intent.created_at
    return HeldSince(at, at)


def _external_edits(member_ids: Mapping[str, Any]) -> Iterable[_RightsEdit]:
    """Yield the differences between two readings: changes made outside the portal."""
    for row in RightsChange.objects.filter(member_id__in=member_ids):
        yield _RightsEdit(
            row.member_id, row.before.get(_RIGHTS), row.after.get(_RIGHTS), HeldSince(row.since, row.read_at)
        )
