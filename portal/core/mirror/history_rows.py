"""From a record of the log to the columns of the mirror, and those into the table: each history_id once."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection as database

from accessapi.resources.histories import History
from portal.core.mirror.keyed import as_json
from portal.core.mirror.rows import sounds_secret
from tenants.scope import current_tenant_id

# An index entry holds less than 2.7 kB. Longer identifiers are nobody's: kept in `extra`, not looked up.
_KEY_BYTES = 1000


class Row(NamedTuple):
    """The columns of History, in the order of the statement below."""

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


_TYPES = {"at": "timestamptz", "units": "jsonb", "extra": "jsonb"}
_INSERT = f"""
INSERT INTO mirror_history (tenant_id, {", ".join(Row._fields)})
SELECT %s, t.* FROM unnest({", ".join(f"%s::{_TYPES.get(name, 'text')}[]" for name in Row._fields)}) AS t
ON CONFLICT (tenant_id, history_id) DO NOTHING RETURNING id
"""  # noqa: S608 - our own column names


def rows(items: Iterable[History], raw: Sequence[Any], before: datetime) -> list[Row]:
    """Columns of records in the order in which they came. One without a readable moment has that of the one before it.

    `raw` are the items as they came, by history_id; `before` is the moment of what came before the first.
    """
    moments = {str(item.get("history_id")): item.get("datetime") for item in raw if isinstance(item, dict)}
    found = []
    for item in items:
        if len(item.history_id.encode()) > _KEY_BYTES:
            continue
        row = _row(item, moments.get(item.history_id), before)
        before = row.at
        found.append(row)
    return found


def insert(found: Sequence[Row]) -> list[int]:
    """Write what is not there yet, in one statement; the keys of the new rows."""
    if not found:
        return []
    once = {row.history_id: row for row in found}
    with database.cursor() as cursor:
        cursor.execute(_INSERT, [current_tenant_id(), *map(list, zip(*once.values(), strict=True))])
        return [key for (key,) in cursor.fetchall()]


def _row(item: History, raw_moment: Any, before: datetime) -> Row:
    member, device = item.member, item.device
    # A person who is no object may be anything, also what was shown at the door.
    extra = {name: value for name, value in {**item.extra, **item.odd}.items() if name != "member"}
    for name, part in (("member", member), ("device", device)):
        if part is not None and (more := {**part.extra, **part.odd}):
            extra[name] = more
    member_id, device_id = (part.id or "" if part is not None else "" for part in (member, device))
    for name, key in (("member_id", member_id), ("device_id", device_id)):
        if len(key.encode()) > _KEY_BYTES:
            extra[name] = key
    at = item.datetime if item.datetime is not None and 1900 <= item.datetime.year <= 9998 else None
    if at is None:
        extra["datetime"] = raw_moment
    units = [{"unit_no": unit.unit_no, "unit_name": unit.unit_name or ""} for unit in device.units] if device else []
    return Row(
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
        extra=as_json(_public(extra)),
    )


def _public(value: Any) -> Any:
    """A value without what is or sounds secret, however deep: `data` is what was shown at the door (a card, a code)."""
    if isinstance(value, dict):
        return {key: _public(each) for key, each in value.items() if key != "data" and not sounds_secret(key)}
    return [_public(each) for each in value] if isinstance(value, list) else value
