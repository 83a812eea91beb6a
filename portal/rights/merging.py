"""Merge two people's changes of the same rights, if they changed different places.

`base` is what the person started from, `now` what the service has. Areas are merged one by one, key boxes as a whole.
"""

from collections.abc import Mapping
from typing import Any

from accessapi.permissions import normalise_devices, normalise_keys
from accessapi.permissions.passes import Json, sort_key
from portal.domain.rights.member_rights import canonical

_Entries = dict[str, list[Any]]


class MergeConflict(Exception):
    """Raised when both changed the same place differently, or one changed all places at once. A person must decide."""


def merge_changes(base: Mapping[str, Any], mine: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return `now` with the changes from `base` to `mine`. Raises MergeConflict."""
    was, ours, theirs = canonical(base), canonical(mine), canonical(now)
    return {
        "devices_pass": _merge_part(was, ours, theirs, "devices_pass"),
        "keys_pass": _merge_part(was, ours, theirs, "keys_pass"),
        "privilege": _merge_privilege(was["privilege"], ours["privilege"], theirs["privilege"]),
    }


def _merge_part(was: Json, ours: Json, theirs: Json, name: str) -> Any:
    old, mine, now = (side[name] for side in (was, ours, theirs))
    if sort_key(mine) == sort_key(old) or mine is None:
        return now
    if sort_key(now) == sort_key(old) or sort_key(now) == sort_key(mine):
        return mine
    list_name, identifier = _LISTS[name]
    opened = [_entries_by_id(side, list_name, identifier) for side in (old, mine, now)]
    merged = _merge_entries(*opened)
    rest = {key: value for key, value in now.items() if key not in ("default_mode", list_name)}
    whole = {**rest, "default_mode": "option", list_name: [entry for entries in merged.values() for entry in entries]}
    return normalise_devices(whole) if name == "devices_pass" else normalise_keys(whole)


_LISTS = {"devices_pass": ("areas_list", "area_id"), "keys_pass": ("key_devices_list", "key_device_id")}


def _entries_by_id(rights: Any, list_name: str, identifier: str) -> _Entries:
    """Return entries by the place they are about. Entries without a known place are kept separate."""
    mode = rights.get("default_mode") if isinstance(rights, dict) else None
    if mode == "deny_all":
        return {}
    if mode != "option" or not isinstance(rights.get(list_name), list):
        raise MergeConflict
    found: _Entries = {}
    for entry in rights[list_name]:
        name = entry.get(identifier) if isinstance(entry, dict) else None
        found.setdefault(name if isinstance(name, str) else f"\0{sort_key(entry)}", []).append(entry)
    return found


def _merge_entries(old: _Entries, mine: _Entries, now: _Entries) -> _Entries:
    merged = {}
    for name in dict.fromkeys([*now, *mine]):
        was, ours, theirs = (sort_key(side.get(name, [])) for side in (old, mine, now))
        if ours != was and theirs not in (was, ours):
            raise MergeConflict
        merged[name] = (now if ours == was else mine).get(name, [])
    return merged


def _merge_privilege(old: Any, mine: Any, now: Any) -> Any:
    if mine == old or not all(isinstance(side, dict) for side in (old, mine, now)):
        return now if mine == old else mine
    return {**now, **{name: value for name, value in mine.items() if value != old.get(name)}}
