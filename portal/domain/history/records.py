"""Request log records with the fields that the portal needs, convert them to columns without secrets, and insert them.

The specification does not say which names the parameter `fields` of operation 23 accepts. The portal requests the
fields that its environment configures, and the default if the service refuses them. It requests them again a day later.

Malformed values of single fields never raise an error.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection as database

from accessapi.client import Answer
from accessapi.errors import Invalid
from accessapi.limits import IDENTIFIER_BYTES_MAX
from accessapi.resources.histories import History
from portal.base.timers.clock import database_now
from portal.domain.history import partitions, search
from portal.domain.people.fields import as_json
from portal.domain.people.row_building import is_secret_name
from tenants.models import current_tenant
from tenants.scope import current_tenant_id

_RETRY_REFUSED_AFTER = timedelta(days=1)
_REFUSED_AT = "fields_refused_at"  # in the memory of the log's state


def fields_to_request(memory: dict[str, Any]) -> str:
    """Return the fields for a reading that begins now; "" for the default."""
    refused_at = memory.get(_REFUSED_AT)
    if refused_at is not None and datetime.fromisoformat(refused_at) > database_now() - _RETRY_REFUSED_AFTER:
        return ""
    return current_tenant().environment.catalogue.shapes.history_fields


def read_first_page(call: Callable[[str], Answer], fields: str, memory: dict[str, Any]) -> tuple[Answer, str]:
    """Return a reading's first page, and the fields that were requested; "" if the service refuses `fields`.

    If the same call succeeds without `fields`, the fields were the reason for the refusal.
    """
    try:
        return call(fields), fields
    except Invalid:
        if not fields:
            raise
        answer = call("")
        memory[_REFUSED_AT] = database_now().isoformat()
        return answer, ""


class HistoryColumns(NamedTuple):
    """A log record as columns of History, in the order of the statement below."""

    history_id: str
    at: datetime
    status: str
    category: str
    content: str
    member_id: str
    member_name: str
    member_type: str
    member_label: str
    member_attribute: str
    device_id: str
    device_name: str
    device_module: str
    units: str
    extra: str
    notified: bool = False


_TYPES = {"at": "timestamptz", "notified_at": "timestamptz", "units": "jsonb", "extra": "jsonb", "notified": "bool"}
_COLUMNS = (*HistoryColumns._fields, "text_key", "notified_at")
# Existing records are searched by history_id alone, because the same record may arrive again with another time.
_INSERT = f"""
INSERT INTO history_history (id, tenant_id, {", ".join(_COLUMNS)})
SELECT coalesce(t.id, nextval(pg_get_serial_sequence('history_history', 'id'))), %s, {", ".join(_COLUMNS)}
FROM unnest(%s::int8[], {", ".join(f"%s::{_TYPES.get(name, 'text')}[]" for name in _COLUMNS)})
    AS t (id, {", ".join(_COLUMNS)})
WHERE NOT EXISTS (SELECT FROM history_history k WHERE k.tenant_id = %s AND k.history_id = t.history_id)
ON CONFLICT (tenant_id, history_id, at) DO NOTHING RETURNING history_id, id, at
"""  # noqa: S608 - our own column names
_DELETE_NOTIFIED = """
DELETE FROM history_history WHERE tenant_id = %s AND notified AND history_id = ANY(%s) RETURNING history_id, id, at
"""


def build_records(items: Iterable[History], raw: Sequence[Any], before: datetime) -> list[HistoryColumns]:
    """Return the columns of records, in the same order. A record without a valid time gets that of the one before it.

    `raw` are the service's unchanged items; `before` is the time of the record before the first.
    """
    moments = {str(item.get("history_id")): item.get("datetime") for item in raw if isinstance(item, dict)}
    found = []
    for item in items:
        row = _build_record(item, moments.get(item.history_id), before)
        before = row.at
        found.append(row)
    return found


def insert_records(found: Sequence[HistoryColumns]) -> list[int]:
    """Insert the records that are not stored yet and return the keys of the new rows.

    A record from the log replaces one that came from a notification, with the same key. If their times differ, the
    notification's time is kept in `notified_at`. Must be called inside a transaction, by one worker for each tenant
    (its lease).
    """
    if not found:
        return []
    tenant_id, once = current_tenant_id(), {row.history_id: row for row in found}
    partitions.ensure_partitions({row.at for row in once.values()})
    entries = {name: search.search_entry_of(tenant_id, _search_columns(row)) for name, row in once.items()}
    with database.cursor() as cursor:
        before = _remove_notified(cursor, [name for name, row in once.items() if not row.notified])
        rows = []
        for name, row in once.items():
            key, at = before.get(name, (None, None))
            rows.append((key, *row, entries[name][0], None if at == row.at else at))
        cursor.execute(_INSERT, [tenant_id, *map(list, zip(*rows, strict=True)), tenant_id])
        new = cursor.fetchall()
        if new:
            search.add_search_rows(cursor, [(key, tenant_id, at, entries[name][1]) for name, key, at in new])
    return [key for _, key, _ in new]


def _remove_notified(cursor: Any, history_ids: list[str]) -> dict[str, tuple[int, datetime]]:
    """Remove records that came from notifications. Return their keys and times, which their replacements keep."""
    cursor.execute(_DELETE_NOTIFIED, [current_tenant_id(), history_ids])
    gone = cursor.fetchall()
    if gone:
        search.remove_search_rows(cursor, [(key, at) for _, key, at in gone])
    return {name: (key, at) for name, key, at in gone}


def _search_columns(row: HistoryColumns) -> dict[str, Any]:
    return row._asdict() | {"units": json.loads(row.units)}


def _build_record(item: History, raw_moment: Any, before: datetime) -> HistoryColumns:
    member, device = item.member, item.device
    # A malformed `member` is dropped, because it may be a credential that was shown at the door.
    extra = {name: value for name, value in {**item.unknown_fields, **item.invalid_values}.items() if name != "member"}
    for name, part in (("member", member), ("device", device)):
        if part is not None and (more := {**part.unknown_fields, **part.invalid_values}):
            extra[name] = more
    member_id, device_id = (part.id or "" if part is not None else "" for part in (member, device))
    for name, key in (("member_id", member_id), ("device_id", device_id)):
        if len(key.encode()) > IDENTIFIER_BYTES_MAX:  # no valid identifier: stored, but not searched
            extra[name] = key
    at = item.datetime
    if at is None:
        extra["datetime"] = raw_moment
    units = [{"unit_no": unit.unit_no, "unit_name": unit.unit_name or ""} for unit in device.units] if device else []
    return HistoryColumns(
        history_id=item.history_id,
        at=at or before,
        status=item.status or "",
        category=item.category or "",
        content=item.content or "",
        member_id="" if "member_id" in extra else member_id,
        member_name=(member.name if member else "") or "",
        member_type=(member.type_ if member else "") or "",
        member_label=(member.label if member else "") or "",
        member_attribute=(member.attribute if member else "") or "",
        device_id="" if "device_id" in extra else device_id,
        device_name=(device.name if device else "") or "",
        device_module=(device.module if device else "") or "",
        units=as_json(units),
        extra=as_json(remove_secrets(extra)),
    )


def remove_secrets(value: Any) -> Any:
    """Return a value without secrets at any depth. `data` is what was shown at the door (a card, a code)."""
    if isinstance(value, dict):
        return {key: remove_secrets(each) for key, each in value.items() if key != "data" and not is_secret_name(key)}
    return [remove_secrets(each) for each in value] if isinstance(value, list) else value
