"""Whether two readings of somebody's rights mean the same.

Rights here are a mapping with "devices_pass", "keys_pass" and "privilege"; one that is missing or None was not told.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from portal.core.mirror.fields.members import DOORS_AND_KEYS, PRIVILEGE

Told = Mapping[str, Any]


def canonical(rights: Told) -> dict[str, Any]:
    """The three parts so that two that mean the same are equal; None for a part that was not told."""
    told = [(each, rights.get(each.name)) for each in DOORS_AND_KEYS]
    normal = {each.name: None if value is None else each.normal(value) for each, value in told}
    return {**normal, PRIVILEGE.name: _plain(rights.get(PRIVILEGE.name))}


def _plain(privilege: Any) -> Any:
    """Privileges that were never given are given to nobody (specification: default false)."""
    if privilege is not None and not isinstance(privilege, dict):
        return privilege
    given = privilege or {}
    return {**given, **{name: value for name, value in PRIVILEGE.unsaid.items() if given.get(name) is None}}


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
