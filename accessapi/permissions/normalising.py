"""Rights in canonical form, so that two with the same meaning compare equal.

Specification: "Entry permissions (devices_pass) and key permissions (keys_pass)", rules 1 and 2. Normalising is
idempotent, changes no decision, and keeps every unknown mode, effect, key and entry. If one area, key box or key is
listed twice, any of its entries gives access (assumed).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accessapi.permissions.passes import Json, is_plain, merge_passes, never, normal_pass, sort_key


def no_access() -> Json:
    """Return devices_pass or keys_pass that gives no access. Omitted rights mean the same (rule 1)."""
    return {"default_mode": "deny_all"}


def normalise_devices(rights: Any) -> Json:
    """Return devices_pass in canonical form."""
    return _normal_mode(rights, "areas_list", lambda entries: _normal_passes(entries, "area_id"))


def normalise_keys(rights: Any) -> Json:
    """Return keys_pass in canonical form."""
    return _normal_mode(rights, "key_devices_list", _normal_boxes)


def _normal_mode(rights: Any, list_name: str, normal_list: Callable[[list[Any]], list[Any]]) -> Json:
    if not isinstance(rights, dict) or not rights:
        return no_access()
    mode = rights.get("default_mode")
    others = {name: value for name, value in rights.items() if name != list_name}
    if mode in ("allow_all", "deny_all"):
        return others
    entries = rights.get(list_name, [])
    if mode != "option" or not isinstance(entries, list):
        return dict(rights)
    entries = normal_list(entries)
    return {**others, list_name: entries} if entries else {**others, "default_mode": "deny_all"}


def _normal_passes(entries: list[Any], identifier: str) -> list[Any]:
    """Return entries { identifier, pass }: merged, sorted, without those that never give access.

    Unknown entries are at the end.
    """
    merged: dict[str, Json] = {}
    foreign: list[Any] = []
    for entry in entries:
        name = entry.get(identifier) if isinstance(entry, dict) else None
        if not isinstance(name, str) or set(entry) != {identifier, "pass"} or not is_plain(entry["pass"]):
            foreign.append(_normal_unknown_entry(entry))
            continue
        value = normal_pass(entry["pass"])
        merged[name] = merge_passes(merged[name], value) if name in merged else value
    passes = [{identifier: name, "pass": value} for name, value in sorted(merged.items()) if value != never()]
    return passes + _sort_distinct(foreign)


def _normal_boxes(entries: list[Any]) -> list[Any]:
    open_boxes: set[str] = set()
    units: dict[str, list[Any]] = {}
    foreign: list[Any] = []
    for entry in entries:
        if not _is_plain_box(entry):
            foreign.append(entry)
        elif entry["default_mode"] == "allow_all":
            open_boxes.add(entry["key_device_id"])
        elif entry["default_mode"] == "option":
            units.setdefault(entry["key_device_id"], []).extend(entry.get("units", []))
    boxes: list[Any] = [_box(name, "allow_all") for name in open_boxes]
    for name in units.keys() - open_boxes:
        listed = _normal_passes(units[name], "unit_no")
        if listed:
            boxes.append({**_box(name, "option"), "units": listed})
    return sorted(boxes, key=lambda box: str(box["key_device_id"])) + _sort_distinct(foreign)


def _box(key_device_id: str, mode: str) -> Json:
    return {"key_device_id": key_device_id, "default_mode": mode}


def _is_plain_box(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("key_device_id"), str):
        return False
    known = set(entry) <= {"key_device_id", "default_mode", "units"}
    mode = entry.get("default_mode")
    listed = isinstance(entry.get("units", []), list)
    return known and mode in ("allow_all", "deny_all", "option") and listed


def _normal_unknown_entry(entry: Any) -> Any:
    if isinstance(entry, dict) and "pass" in entry:
        return {**entry, "pass": normal_pass(entry["pass"])}
    return entry


def _sort_distinct(foreign: list[Any]) -> list[Any]:
    """Return the entries that cannot be merged, each once, in an order that does not depend on their positions."""
    distinct = {sort_key(entry): entry for entry in foreign}
    return [distinct[key] for key in sorted(distinct)]
