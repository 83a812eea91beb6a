"""Whether two readings of somebody's rights mean the same.

Rights here are a mapping with "devices_pass", "keys_pass" and "privilege"; one that is missing or None was not told.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from accessapi.permissions import normalise_devices, normalise_keys

NAMES = ("devices_pass", "keys_pass", "privilege")
Told = Mapping[str, Any]


def canonical(rights: Told) -> dict[str, Any]:
    """The three parts so that two that mean the same are equal; None for a part that was not told."""
    devices, keys, privilege = (rights.get(name) for name in NAMES)
    return {
        "devices_pass": None if devices is None else normalise_devices(devices),
        "keys_pass": None if keys is None else normalise_keys(keys),
        "privilege": _plain(privilege),
    }


def _plain(privilege: Any) -> Any:
    """Privileges that were never given are given to nobody (specification: default false)."""
    if privilege is None:
        return {"keys_without_2fa": False, "restricted_keys_enabled": False}
    if not isinstance(privilege, dict):
        return privilege
    absent = {name: False for name in ("keys_without_2fa", "restricted_keys_enabled") if privilege.get(name) is None}
    return {**privilege, **absent}


def digest(rights: Told) -> str:
    """The same for any two readings that mean the same, however they are written down."""
    text = json.dumps(canonical(rights), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, true and 1 being different."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def agrees(name: str, wanted: Any, told: Any) -> bool:
    """Whether what the service tells now of one part is what was sent: in meaning, as it may write it otherwise."""
    if name == "privilege":
        given = told if isinstance(told, dict) else {}
        return isinstance(wanted, dict) and all(given.get(key) == value for key, value in wanted.items())
    nothing = {"default_mode": "deny_all"}
    return same(canonical({name: wanted})[name] or nothing, canonical({name: told})[name] or nothing)
