"""The list of guests (operation 19): its query, and how a complete reading is written to the mirror.

The specification does not say which names the parameter `fields` accepts. So the portal requests all fields that it
needs, fewer when the service refuses them, and finally the default. A column is only updated if the reading contains
it, so that a service that ignores the parameter does not clear dates.
"""

import json
import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection as database

from portal.base.timers.clock import database_now
from portal.domain.mirror.fields.guests import GUEST, GUEST_NAME
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.member_swap import SwapResult
from portal.domain.mirror.models import MirrorState, StagedPage, SyncRun
from portal.domain.mirror.row_building import GuestRowBuilder, sql_types
from tenants.models import current_tenant

# Requested in this order when the service refuses the fields that its environment configures.
FALLBACK_FIELDS = ("use_date_start,use_date_end", "")
# Refused fields are requested again after this time, because the service may accept them by then.
_RETRY_REFUSED_AFTER = timedelta(days=1)

_GUEST_TYPES = {"guest_id": "text", "digest": "bytea", **sql_types(GUEST), "extra": "jsonb"}

# A row that our own write or single read updated after the reading began is not changed.
_IS_OLDER = "(g.first_hand_at IS NULL OR g.first_hand_at <= %(since)s)"
_REMOVE_GUESTS = f"""
DELETE FROM mirror_guest g WHERE tenant_id = %(tenant)s AND guest_id = ANY(%(missing)s) AND {_IS_OLDER}
"""  # noqa: S608 - our own words


def guest_page_query() -> dict[str, Any]:
    """Return the query of a page of the list, without the cursor."""
    wanted = (current_tenant().environment.catalogue.shapes.guest_fields, *FALLBACK_FIELDS)[_level_of_fields()]
    return {"fields": wanted} if wanted else {}


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
    told = {name for item in found.values() for name in item.keys() & GUEST.columns_of.keys()} | {GUEST_NAME.name}
    changed = {guest_id: item for guest_id, item in found.items() if known.get(guest_id) != digests[guest_id]}
    scope: dict[str, Any] = {"tenant": run.tenant_id, "since": run.started_at}
    missing = [] if run.reason else list(known.keys() - found.keys())
    with database.cursor() as cursor:
        cursor.execute(_REMOVE_GUESTS, {**scope, "missing": missing})
        removed = cursor.rowcount
        written = 0
        if changed:
            columns = [column for name, each in GUEST.columns_of.items() if name in told for column in each] + ["extra"]
            cursor.execute(_guest_upsert(columns), {**scope, **_guest_arrays(reader, columns, changed, digests)})
            written = cursor.rowcount
        cursor.execute("SELECT count(*) FROM mirror_guest WHERE tenant_id = %s AND gone_at IS NULL", [run.tenant_id])
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
        cursor.execute("SELECT guest_id, digest FROM mirror_guest WHERE tenant_id = %s", [tenant_id])
        return {guest_id: None if digest is None else bytes(digest) for guest_id, digest in cursor.fetchall()}


def _guest_upsert(columns: Iterable[str]) -> str:
    """Return one statement for all new or changed guests; `columns` are those that this reading contains."""
    named = ["guest_id", "digest", *columns]
    arrays = ", ".join(f"%({name})s::{_GUEST_TYPES[name]}[]" for name in named)
    values = ", ".join(f"EXCLUDED.{name}" for name in named[1:])
    rest = {"guest_name": "''", "name_key": "''", "extra": "'{}'"}
    unsaid = {name: value for name, value in rest.items() if name not in named}
    return f"""
        INSERT INTO mirror_guest AS g (tenant_id, {", ".join([*named, *unsaid])})
        SELECT %(tenant)s, t.*{"".join(f", {value}" for value in unsaid.values())} FROM unnest({arrays}) AS t
        ON CONFLICT (tenant_id, guest_id) DO UPDATE SET ({", ".join(named[1:])}, gone_at) = ROW({values}, NULL)
        WHERE {_IS_OLDER}
    """  # noqa: S608 - our own column names


def _guest_arrays(
    reader: GuestRowBuilder, columns: list[str], items: dict[str, dict[str, Any]], digests: dict[str, bytes]
) -> dict[str, list[Any]]:
    rows = [reader.encrypted_values(item) for item in items.values()]
    told = {column: [row[column] for row in rows] for column in columns}
    return {"guest_id": list(items), "digest": [digests[guest_id] for guest_id in items], **told}
