"""What an entry changed, field by field, with everything masked that opens a door."""

from __future__ import annotations

import json
from typing import Any

from tenants.models import AuditEntry

SECRET = ("card_data", "qrcode", "qrcode_data", "data", "totp_seed", "secret_token", "face_data")
MASK = "••••"


def changes(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """(field, before, after) of each field that differs; a field that is missing on one side shows as empty."""
    before, after = _flat(entry.before), _flat(entry.after)
    names = dict.fromkeys([*before, *after])
    return [(n, before.get(n, ""), after.get(n, "")) for n in names if before.get(n) != after.get(n)]


def _flat(value: Any, name: str = "") -> dict[str, str]:
    if isinstance(value, dict) and not _secret(name):
        found: dict[str, str] = {}
        for key, item in value.items():
            found.update(_flat(item, f"{name}.{key}" if name else str(key)))
        return found
    if value is None:
        return {name: ""} if name else {}
    if _secret(name):
        return {name: MASK}
    return {name or "value": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


def _secret(name: str) -> bool:
    return name.rpartition(".")[2] in SECRET
