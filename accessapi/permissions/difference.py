"""List the differences between two rights, per area or key: for audit, dry runs and confirmation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accessapi.permissions.normalising import normalise_devices, normalise_keys
from accessapi.permissions.passes import Json, always, never


@dataclass(frozen=True, slots=True)
class PassChange:
    """One area (`unit_no` None), key box (`unit_no` None) or key whose pass differs.

    `target` None is everything that is not listed, including areas or key boxes added later. `before` and `after` are
    passes; None if the rights hold unknown values.
    """

    target: str | None
    unit_no: str | None
    before: Json | None
    after: Json | None


def compare_devices(before: Any, after: Any) -> list[PassChange]:
    """Return the differences between two devices_pass; empty when they mean the same."""
    old, new = normalise_devices(before), normalise_devices(after)
    return _compare(_flatten(old, "areas_list", "area_id"), _flatten(new, "areas_list", "area_id"))


def compare_keys(before: Any, after: Any) -> list[PassChange]:
    """Return the differences between two keys_pass; a target with unit_no None is the rest of that key box."""
    return _compare(_flatten_keys(normalise_keys(before)), _flatten_keys(normalise_keys(after)))


_Key = tuple[str | None, str | None]
_Flat = dict[_Key, Json | None]


def _compare(old: _Flat, new: _Flat) -> list[PassChange]:
    changes = []
    for key in sorted(old.keys() | new.keys(), key=lambda key: (key[0] or "", key[1] or "")):
        before, after = _pass_of(old, key), _pass_of(new, key)
        if before != after:
            changes.append(PassChange(*key, before, after))
    return changes


def _pass_of(flat: _Flat, key: _Key) -> Json | None:
    for nearest in (key, (key[0], None), (None, None)):
        if nearest in flat:
            return flat[nearest]
    return never()


def _pass_of_mode(mode: Any) -> Json | None:
    if not isinstance(mode, str):
        return None
    return {"allow_all": always(), "deny_all": never(), "option": never()}.get(mode)


def _flatten(rights: Json, list_name: str, identifier: str) -> _Flat:
    mode = rights.get("default_mode")
    flat: _Flat = {(None, None): _pass_of_mode(mode)}
    for entry in rights.get(list_name, []) if mode == "option" else []:
        if isinstance(entry, dict) and isinstance(entry.get(identifier), str):
            _put(flat, (entry[identifier], None), entry.get("pass"))
    return flat


def _put(flat: _Flat, key: _Key, value: Any) -> None:
    # A second entry that could not be merged: the meaning of both together is unknown.
    flat[key] = value if key not in flat and isinstance(value, dict) else None


def _flatten_keys(rights: Json) -> _Flat:
    mode = rights.get("default_mode")
    flat: _Flat = {(None, None): _pass_of_mode(mode)}
    for box in rights.get("key_devices_list", []) if mode == "option" else []:
        if isinstance(box, dict) and isinstance(box.get("key_device_id"), str):
            _put_box(flat, box["key_device_id"], box)
    return flat


def _put_box(flat: _Flat, name: str, box: Json) -> None:
    _put(flat, (name, None), _pass_of_mode(box.get("default_mode")))
    units = box.get("units", [])
    for unit in units if isinstance(units, list) else []:
        if isinstance(unit, dict) and isinstance(unit.get("unit_no"), str):
            _put(flat, (name, unit["unit_no"]), unit.get("pass"))
