"""Write complete readings of members and guests to their tables, in one transaction each.

The SQL statements delete rows that the list lacks, write new and changed rows, and leave all others. A row that our own
write or single read updated after the run began is not changed. Members' names and sealed secrets pass through
temporary tables, which only this connection sees and which the transaction drops.

For guests (operation 19), the specification does not say which names the parameter `fields` accepts. So the portal
requests all fields that it needs, fewer when the service refuses them, and finally the default. A column is only
updated if the reading contains it, so that a service that ignores the parameter does not clear dates.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection as database

from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.people import row_building
from portal.domain.people.field_types import Text
from portal.domain.people.guest_fields import GUEST, GUEST_NAME
from portal.domain.people.member_fields import MEMBER
from portal.domain.people.row_building import GuestRowBuilder, MemberRowBuilder, sql_types
from portal.domain.sync.models import MirrorState, StagedPage, SyncRun
from tenants.models import current_tenant

_COLUMNS = ("member_id", "digest", *MEMBER.listed_columns, "extra")
_TYPES = {"member_id": "text", "digest": "bytea", **sql_types(MEMBER), "extra": "text", "pieces": "text"}
_INCOMING = ", ".join(f"{name} {kind}" for name, kind in _TYPES.items())

# A list has fewer details of a QR code than a single read. While the code is the same, the stored details are kept.
_SAME_QR = "m.qr_fingerprint IS NOT DISTINCT FROM EXCLUDED.qr_fingerprint"
_SET = ", ".join(
    f"qrcode = CASE WHEN {_SAME_QR} THEN m.qrcode ELSE EXCLUDED.qrcode END"
    if name == "qrcode"
    else f"{name} = EXCLUDED.{name}"
    for name in _COLUMNS
    if name != "member_id"
)
# Texts that only single reads contain.
_DEFAULTS = {each.name: "''" for each in MEMBER if isinstance(each, Text) and not each.is_listed}

# For members who are added after the records about them.
_LAST_SEEN = """
(SELECT h.at FROM history_history h
 WHERE h.tenant_id = %(tenant)s AND h.member_id = i.member_id AND NOT h.member_id = '' ORDER BY h.at DESC LIMIT 1)
"""

# Sorted by name like most indexes, which saves a third of the time.
_UPSERT = f"""
INSERT INTO people_member AS m (tenant_id, {", ".join(_COLUMNS)}, {", ".join(_DEFAULTS)}, last_seen_at)
SELECT %(tenant)s, {", ".join(_COLUMNS).replace("extra", "extra::jsonb")}, {", ".join(_DEFAULTS.values())}, {_LAST_SEEN}
FROM mirror_incoming i ORDER BY i.name_key
ON CONFLICT (tenant_id, member_id) DO UPDATE SET {_SET}, gone_at = NULL
WHERE m.first_hand_at IS NULL OR m.first_hand_at <= %(since)s
"""  # noqa: S608 - our own column names

# All listed members, changed or not; then the members that the list no longer has.
_INSERT_LISTED = """
INSERT INTO mirror_seen SELECT DISTINCT unnest(listed) FROM sync_stagedpage
WHERE tenant_id = %(tenant)s AND run_id = %(run)s
"""
_MISSING = """
CREATE TEMP TABLE mirror_missing ON COMMIT DROP AS
SELECT m.id FROM people_member m
WHERE m.tenant_id = %(tenant)s AND (m.first_hand_at IS NULL OR m.first_hand_at <= %(since)s)
AND %(whole)s AND NOT EXISTS (SELECT 1 FROM mirror_seen s WHERE s.member_id = m.member_id)
"""
_REMOVE_FROM_INDEX = "DELETE FROM people_membersearch f USING mirror_missing g WHERE f.member_id = g.id"
_REMOVE = "DELETE FROM people_member m USING mirror_missing g WHERE m.tenant_id = %(tenant)s AND m.id = g.id"

_UPDATE_INDEX = """
INSERT INTO people_membersearch AS f (member_id, tenant_id, pieces)
SELECT m.id, m.tenant_id, i.pieces::int4[]
FROM mirror_incoming i JOIN people_member m ON m.tenant_id = %(tenant)s AND m.member_id = i.member_id
WHERE m.digest = i.digest
ON CONFLICT (member_id) DO UPDATE SET pieces = EXCLUDED.pieces WHERE f.pieces IS DISTINCT FROM EXCLUDED.pieces
"""

# Only cards in the new or changed rows can become shared; only cards that were shared can stop being so.
_MARK_SHARED_CARDS = """
WITH twice AS MATERIALIZED (
    SELECT c.card_fingerprint FROM people_member c
    WHERE c.tenant_id = %(tenant)s AND c.has_card AND c.gone_at IS NULL
    AND c.card_fingerprint IN (SELECT i.card_fingerprint FROM mirror_incoming i)
    GROUP BY c.card_fingerprint HAVING count(*) > 1
)
UPDATE people_member m SET shares_card = true FROM twice
WHERE m.tenant_id = %(tenant)s AND m.has_card AND m.gone_at IS NULL AND NOT m.shares_card
AND m.card_fingerprint = twice.card_fingerprint
"""
_UNMARK_SHARED_CARDS = """
UPDATE people_member m SET shares_card = false
WHERE m.tenant_id = %(tenant)s AND m.shares_card AND m.gone_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM people_member o
    WHERE o.tenant_id = %(tenant)s AND o.has_card AND o.card_fingerprint = m.card_fingerprint AND o.gone_at IS NULL
    AND o.id <> m.id
)
"""


@dataclass(frozen=True)
class SwapResult:
    """The result of a swap: the number of members now, rows written and rows removed."""

    total: int
    changed: int
    removed: int


@dataclass(frozen=True)
class StagedItems:
    """The data of a page that is kept until the swap: the IDs of all its items, and the items to write."""

    listed_ids: list[str]
    items: list[dict[str, Any]]


def stage_members(run: SyncRun, items: list[dict[str, Any]]) -> StagedItems:
    """Return the new and changed members of a page. If one is listed twice, the last entry counts.

    Pages can be compared before the run is complete, because the swap does not change rows that are written later.
    """
    reader = MemberRowBuilder(run.tenant_id)
    named = {str(item["member_id"]): item for item in items}
    known = _known_digests(run.tenant_id, list(named))
    return StagedItems(list(named), [item for each, item in named.items() if known.get(each) != reader.digest(item)])


def swap_members(run: SyncRun) -> SwapResult:
    """Write a complete run to the mirror. Must be called inside the transaction that also finishes the run."""
    scope: dict[str, Any] = {"tenant": run.tenant_id, "since": run.started_at, "run": run.pk, "whole": not run.reason}
    with database.cursor() as cursor:
        cursor.execute('CREATE TEMP TABLE mirror_seen (member_id text COLLATE "C") ON COMMIT DROP')
        cursor.execute(f"CREATE TEMP TABLE mirror_incoming ({_INCOMING}) ON COMMIT DROP")
        cursor.execute(_INSERT_LISTED, scope)
        for rows in _incoming(run):
            _copy(cursor, "mirror_incoming", list(_TYPES.values()), rows)
        # The planner has no statistics for rows of this transaction, expects few, and would choose slow nested loops.
        # With hash joins, the time grows only with the length of the list.
        cursor.execute("SET LOCAL enable_nestloop = off")
        row_building.lock_last_seen()  # before any row is locked, but after the slow steps
        removed = _remove(cursor, scope)
        changed = _write(cursor, scope)
        cursor.execute("SELECT count(*) FROM people_member WHERE tenant_id = %s AND gone_at IS NULL", [run.tenant_id])
        total = cursor.fetchone()[0]
        cursor.execute("SET LOCAL enable_nestloop = on")
        cursor.execute("DROP TABLE mirror_seen, mirror_incoming, mirror_missing")
    return SwapResult(total, changed, removed)


def _remove(cursor: Any, scope: dict[str, Any]) -> int:
    cursor.execute(_MISSING, scope)
    if not cursor.rowcount:
        return 0
    cursor.execute(_REMOVE_FROM_INDEX)
    cursor.execute(_REMOVE, scope)
    return int(cursor.rowcount)


def _write(cursor: Any, scope: dict[str, Any]) -> int:
    cursor.execute("SELECT EXISTS (SELECT 1 FROM mirror_incoming)")
    changed = 0
    if cursor.fetchone()[0]:
        cursor.execute(_UPSERT, scope)
        changed = cursor.rowcount
        cursor.execute(_MARK_SHARED_CARDS, scope)
        cursor.execute(_UPDATE_INDEX, scope)
    cursor.execute(_UNMARK_SHARED_CARDS, scope)
    return changed


def tidy_search_index(done: SwapResult) -> None:
    """Clean up the search index after a swap; after a large one, also update PostgreSQL's statistics."""
    if not done.changed:
        return
    with database.cursor() as cursor:
        cursor.execute("SELECT people_tidy_members(%s)", [done.changed + done.removed > max(1000, done.total // 10)])


def _incoming(run: SyncRun) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the staged items of each page as rows. A member that a later page lists again counts only there."""
    reader = MemberRowBuilder(run.tenant_id)
    taken: set[str] = set()
    for page in StagedPage.objects.filter(run=run).order_by("-number").iterator(chunk_size=4):
        items = json.loads(zlib.decompress(page.body))
        yield [reader.incoming_row(item) for item in items if str(item["member_id"]) not in taken]
        taken.update(page.listed)


def _known_digests(tenant_id: int, member_ids: list[str]) -> dict[str, bytes]:
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT member_id, digest FROM people_member WHERE tenant_id = %s AND digest IS NOT NULL"
            " AND member_id = ANY(ARRAY(SELECT json_array_elements_text(%s::json)))",
            [tenant_id, json.dumps(member_ids)],
        )
        return dict(cursor.fetchall())


def _copy(cursor: Any, target: str, types: list[str], rows: Any) -> None:
    with cursor.copy(f"COPY {target} FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


# Requested in this order when the service refuses the fields that its environment configures.
FALLBACK_FIELDS = ("use_date_start,use_date_end", "")
# Refused fields are requested again after this time, because the service may accept them by then.
_RETRY_REFUSED_AFTER = timedelta(days=1)

_GUEST_TYPES = {"guest_id": "text", "digest": "bytea", **sql_types(GUEST), "extra": "jsonb"}

# A row that our own write or single read updated after the reading began is not changed.
_IS_OLDER = "(g.first_hand_at IS NULL OR g.first_hand_at <= %(since)s)"
_REMOVE_GUESTS = f"""
DELETE FROM people_guest g WHERE tenant_id = %(tenant)s AND guest_id = ANY(%(missing)s) AND {_IS_OLDER}
"""  # noqa: S608 - our own words


def guest_page_query() -> dict[str, Any]:
    """Return the query of a page of the list, without the cursor."""
    fields = (current_tenant().environment.catalogue.shapes.guest_fields, *FALLBACK_FIELDS)[_level_of_fields()]
    return {"fields": fields} if fields else {}


def reduce_guest_fields() -> bool:
    """Request fewer fields from now on, because the service refused them. Return False if there are no fewer."""
    level = _level_of_fields() + 1
    if level > len(FALLBACK_FIELDS):
        return False
    memory = {"fields": level, "refused_at": database_now().isoformat()}
    MirrorState.objects.filter(kind=MirrorKind.GUESTS).update(memory=memory)
    return True


def _level_of_fields() -> int:
    memory = MirrorState.objects.filter(kind=MirrorKind.GUESTS).values_list("memory", flat=True).first() or {}
    refused_at = memory.get("refused_at")
    if refused_at is None or datetime.fromisoformat(refused_at) < database_now() - _RETRY_REFUSED_AFTER:
        return 0
    return min(int(memory.get("fields", 0)), len(FALLBACK_FIELDS))


def swap_guests(run: SyncRun) -> SwapResult:
    """Write a complete run to the mirror. Must be called inside the transaction that also finishes the run."""
    reader = GuestRowBuilder(run.tenant_id)
    found = _staged_guests(run)
    known = _known_guest_digests(run.tenant_id)
    digests = {guest_id: reader.digest(item) for guest_id, item in found.items()}
    names = {name for item in found.values() for name in item.keys() & GUEST.columns_of.keys()} | {GUEST_NAME.name}
    changed = {guest_id: item for guest_id, item in found.items() if known.get(guest_id) != digests[guest_id]}
    scope: dict[str, Any] = {"tenant": run.tenant_id, "since": run.started_at}
    missing = [] if run.reason else list(known.keys() - found.keys())
    with database.cursor() as cursor:
        cursor.execute(_REMOVE_GUESTS, {**scope, "missing": missing})
        removed = cursor.rowcount
        written = 0
        if changed:
            columns = [column for name, each in GUEST.columns_of.items() if name in names for column in each]
            columns.append("extra")
            cursor.execute(_guest_upsert(columns), {**scope, **_guest_arrays(reader, columns, changed, digests)})
            written = cursor.rowcount
        cursor.execute("SELECT count(*) FROM people_guest WHERE tenant_id = %s AND gone_at IS NULL", [run.tenant_id])
        total = cursor.fetchone()[0]
    return SwapResult(total, written, removed)


def _staged_guests(run: SyncRun) -> dict[str, dict[str, Any]]:
    """Return the guests of a run by ID. If one is listed twice, the last entry counts."""
    found: dict[str, dict[str, Any]] = {}
    for page in StagedPage.objects.filter(run=run).order_by("number").iterator(chunk_size=4):
        found.update((str(item["guest_id"]), item) for item in json.loads(zlib.decompress(page.body)))
    return found


def _known_guest_digests(tenant_id: int) -> dict[str, bytes | None]:
    with database.cursor() as cursor:
        cursor.execute("SELECT guest_id, digest FROM people_guest WHERE tenant_id = %s", [tenant_id])
        return {guest_id: None if digest is None else bytes(digest) for guest_id, digest in cursor.fetchall()}


def _guest_upsert(columns: Iterable[str]) -> str:
    """Return one statement for all new or changed guests; `columns` are those that this reading contains."""
    named = ["guest_id", "digest", *columns]
    arrays = ", ".join(f"%({name})s::{_GUEST_TYPES[name]}[]" for name in named)
    values = ", ".join(f"EXCLUDED.{name}" for name in named[1:])
    defaults = {"guest_name": "''", "name_key": "''", "extra": "'{}'"}
    defaults_left = {name: value for name, value in defaults.items() if name not in named}
    return f"""
        INSERT INTO people_guest AS g (tenant_id, {", ".join([*named, *defaults_left])})
        SELECT %(tenant)s, t.*{"".join(f", {value}" for value in defaults_left.values())} FROM unnest({arrays}) AS t
        ON CONFLICT (tenant_id, guest_id) DO UPDATE SET ({", ".join(named[1:])}, gone_at) = ROW({values}, NULL)
        WHERE {_IS_OLDER}
    """  # noqa: S608 - our own column names


def _guest_arrays(
    reader: GuestRowBuilder, columns: list[str], items: dict[str, dict[str, Any]], digests: dict[str, bytes]
) -> dict[str, list[Any]]:
    rows = [reader.encrypted_values(item) for item in items.values()]
    values = {column: [row[column] for row in rows] for column in columns}
    return {"guest_id": list(items), "digest": [digests[guest_id] for guest_id in items], **values}
