"""Grant and withdraw one area or key: return new rights and leave the old ones unchanged.

An update replaces the whole of devices_pass or keys_pass. So these functions take whole rights (as read) and return
whole rights (normalised, to be sent). Unknown values in other entries are kept. Rights whose own mode is unknown cannot
be changed without guessing: `UnknownRights`.

Under allow_all everything is granted, "including areas added later". To withdraw something there, the rest must be
listed one by one, so the caller must pass what exists (`all_area_ids`, `inventory`), else `NeedsInventory`. Areas or
keys added to the service later are then no longer included, and a screen must say so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from accessapi.permissions.normalising import normalise_devices, normalise_keys
from accessapi.permissions.passes import Json, always, normal_pass

Inventory = Mapping[str, Collection[str]]


class UnknownRights(ValueError):
    """The rights are in an unknown mode: they are left unchanged."""


class NeedsInventory(ValueError):
    """Everything is allowed: withdrawing one item needs a list of all others."""


def grant_area(rights: Any, area_id: str, pass_: Json, *, all_area_ids: Collection[str] | None = None) -> Json:
    """Return devices_pass with exactly `pass_` for `area_id`; an earlier pass is replaced.

    `all_area_ids` is needed only under allow_all for a pass that is less than always.
    """
    normal = normalise_devices(rights)
    if normal.get("default_mode") == "allow_all" and normal_pass(pass_) == always():
        return normal
    others = _without(_as_list_mode(normal, "areas_list", _areas(all_area_ids)), "areas_list", "area_id", area_id)
    entry = {"area_id": area_id, "pass": normal_pass(pass_)}
    return normalise_devices({**others, "areas_list": [*others["areas_list"], entry]})


def withdraw_area(rights: Any, area_id: str, *, all_area_ids: Collection[str] | None = None) -> Json:
    """Return devices_pass without `area_id`.

    Granting an area to a person without it and withdrawing it again restores the rights.
    """
    opened = _as_list_mode(normalise_devices(rights), "areas_list", _areas(all_area_ids))
    return normalise_devices(_without(opened, "areas_list", "area_id", area_id))


def grant_key_box(rights: Any, key_device_id: str) -> Json:
    """Return keys_pass with every key of a box, including keys added later; passes for single keys are replaced."""
    normal = normalise_keys(rights)
    if normal.get("default_mode") == "allow_all":
        return normal
    others = _without(_as_list_mode(normal, _BOXES, None), _BOXES, "key_device_id", key_device_id)
    box = {"key_device_id": key_device_id, "default_mode": "allow_all"}
    return normalise_keys({**others, _BOXES: [*others[_BOXES], box]})


def withdraw_key_box(rights: Any, key_device_id: str, *, inventory: Inventory | None = None) -> Json:
    """Return keys_pass without any key of a box. `inventory` (box to its unit numbers) is needed under allow_all."""
    opened = _as_list_mode(normalise_keys(rights), _BOXES, _boxes(inventory))
    return normalise_keys(_without(opened, _BOXES, "key_device_id", key_device_id))


def grant_key(
    rights: Any, key_device_id: str, unit_no: str, pass_: Json, *, inventory: Inventory | None = None
) -> Json:
    """Return keys_pass with exactly `pass_` for one key.

    `inventory` is needed under allow_all for a pass that is less than always.
    """
    normal = normalise_keys(rights)
    if normal_pass(pass_) == always() and _is_box_open(normal, key_device_id):
        return normal
    return _set_unit(normal, key_device_id, unit_no, normal_pass(pass_), inventory)


def withdraw_key(rights: Any, key_device_id: str, unit_no: str, *, inventory: Inventory | None = None) -> Json:
    """Return keys_pass without one key. `inventory` is needed if the box, or everything, is allow_all."""
    return _set_unit(normalise_keys(rights), key_device_id, unit_no, None, inventory)


_BOXES = "key_devices_list"


def _areas(all_area_ids: Collection[str] | None) -> list[Json] | None:
    if all_area_ids is None:
        return None
    return [{"area_id": area_id, "pass": always()} for area_id in sorted(all_area_ids)]


def _boxes(inventory: Inventory | None) -> list[Json] | None:
    if inventory is None:
        return None
    return [{"key_device_id": name, "default_mode": "allow_all"} for name in sorted(inventory)]


def _units(inventory: Inventory | None, key_device_id: str) -> list[Json] | None:
    if inventory is None or key_device_id not in inventory:
        return None
    return [{"unit_no": unit_no, "pass": always()} for unit_no in sorted(inventory[key_device_id])]


def _as_list_mode(normal: Json, list_name: str, everything: list[Json] | None) -> Json:
    """Return the same rights in mode option, with an explicit list."""
    mode = normal.get("default_mode")
    if mode == "option" and isinstance(normal.get(list_name), list):
        return normal
    if mode == "deny_all":
        return {**normal, "default_mode": "option", list_name: []}
    if mode != "allow_all":
        raise UnknownRights("these rights are in a mode that is not known")
    if everything is None:
        raise NeedsInventory("everything is allowed: say what exists to take one away")
    return {**normal, "default_mode": "option", list_name: everything}


def _without(opened: Json, list_name: str, identifier: str, value: str) -> Json:
    entries = [e for e in opened[list_name] if not (isinstance(e, dict) and e.get(identifier) == value)]
    return {**opened, list_name: entries}


def _box_of(normal: Json, key_device_id: str) -> list[Json]:
    boxes = normal.get(_BOXES)
    entries = boxes if isinstance(boxes, list) else []
    return [e for e in entries if isinstance(e, dict) and e.get("key_device_id") == key_device_id]


def _is_box_open(normal: Json, key_device_id: str) -> bool:
    if normal.get("default_mode") == "allow_all":
        return True
    return any(box.get("default_mode") == "allow_all" for box in _box_of(normal, key_device_id))


def _set_unit(normal: Json, key_device_id: str, unit_no: str, pass_: Json | None, inventory: Inventory | None) -> Json:
    opened = _as_list_mode(normal, _BOXES, _boxes(inventory))
    boxes = _box_of(opened, key_device_id) or [{"key_device_id": key_device_id, "default_mode": "deny_all"}]
    changed = [_without_unit(box, key_device_id, unit_no, inventory) for box in boxes]
    if pass_ is not None:
        changed[0] = {**changed[0], "units": [*changed[0]["units"], {"unit_no": unit_no, "pass": pass_}]}
    others = _without(opened, _BOXES, "key_device_id", key_device_id)
    return normalise_keys({**others, _BOXES: [*others[_BOXES], *changed]})


def _without_unit(box: Json, key_device_id: str, unit_no: str, inventory: Inventory | None) -> Json:
    return _without(_as_list_mode(box, "units", _units(inventory, key_device_id)), "units", "unit_no", unit_no)
