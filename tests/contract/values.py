"""Compare given values with shown ones, field by field, and report differences without secrets."""

from typing import Any

from accessapi.permissions import compare_devices, compare_keys
from tests.contract.outcomes import Differs
from tests.contract.shapes import Json, kind

_SECRET = ("card_data", "qrcode", "qrcode_data", "secret_token")
_PASS = {"effect", "schedule"}
_BOX = {"key_device_id", "default_mode", "units"}


def differences(given: Json, shown: Json) -> dict[str, str]:
    """Return fields of `given` that `shown` has differently, with a sentence each (expected, got)."""
    found = {}
    for name, value in given.items():
        if sentence := _difference(name, value, shown.get(name)):
            found[name] = sentence
    return found


def raise_first(operation: str, wrong: dict[str, str]) -> None:
    """Raise Differs with the first three results of `differences`."""
    if wrong:
        raise Differs(operation, "; ".join(list(wrong.values())[:3]))


def _difference(name: str, given: Any, shown: Any) -> str:
    if name in ("devices_pass", "keys_pass"):
        return rights_difference(name, given, shown)
    if given is False and shown is None:  # a default may be left out
        return ""
    if given is None:
        return "" if blank(shown) else f"{name}: expected nothing after null, got {said(name, shown)}"
    if isinstance(given, dict):
        if not isinstance(shown, dict):
            return f"{name}: expected an object, got {kind(shown)}"
        inner = {key: _difference(key if name not in _SECRET else name, given[key], shown.get(key)) for key in given}
        return next((f"{name}.{key}: {text.partition(': ')[2]}" for key, text in inner.items() if text), "")
    same = shown == given and isinstance(shown, bool) == isinstance(given, bool)
    return "" if same else f"{name}: expected {said(name, given)}, got {said(name, shown)}"


def blank(value: Any) -> bool:
    """Check whether an optional value is missing."""
    return value is None or value in ("", {})


def said(name: str, value: Any) -> str:
    """Return a value for the report; for a secret only its kind."""
    if value is None:
        return "nothing"
    if name in _SECRET or isinstance(value, (dict, list)):
        return f"another value ({kind(value)})" if name in _SECRET and value else kind(value)
    text = repr(value)
    return text if len(text) <= 70 else f"{text[:60]}… ({kind(value)})"


def rights_difference(name: str, given: Any, shown: Any) -> str:
    """Return how rights differ in meaning ("" when they do not). Order, empty lists and additions do not matter."""
    if shown is not None and not isinstance(shown, dict):
        return f"{name}: expected an object, got {kind(shown)}"
    compare = compare_devices if name == "devices_pass" else compare_keys
    changes = compare(_plain(given), _plain(shown))
    if not changes:
        return ""
    first = changes[0]
    where = "everything not listed" if first.target is None else "a listed area or key box"
    if first.unit_no is not None:
        where = f"unit {first.unit_no}"
    return f"{name}: for {where} expected {_pass(first.before)}, got {_pass(first.after)}"


def _pass(value: Json | None) -> str:
    if value is None:
        return "something else"
    if value.get("effect") == "allow":
        return f"allow with a schedule {value.get('schedule')}"
    return str(value.get("effect"))


def _plain(rights: Any) -> Any:
    """Return rights without unknown additions to an entry, which are allowed."""
    if not isinstance(rights, dict):
        return rights
    plain = {key: rights[key] for key in ("default_mode",) if key in rights}
    for key, entry in (("areas_list", _area), ("key_devices_list", _box)):
        if isinstance(rights.get(key), list):
            plain[key] = [entry(item) for item in rights[key]]
    return plain


def _area(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return {"area_id": item.get("area_id"), "pass": _plain_pass(item.get("pass"))}


def _box(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    plain = {key: item[key] for key in _BOX if item.get(key) is not None}
    if isinstance(plain.get("units"), list):
        plain["units"] = [
            {"unit_no": unit.get("unit_no"), "pass": _plain_pass(unit.get("pass"))}
            for unit in plain["units"]
            if isinstance(unit, dict)
        ]
    return plain


def _plain_pass(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    plain = {key: value[key] for key in _PASS if value.get(key) is not None}
    if isinstance(plain.get("schedule"), list):
        plain["schedule"] = [_plain_item(item) for item in plain["schedule"]]
    return plain


def _plain_item(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    edges = ("time",) if item.get("mode") == "weekly" else ("date", "time")
    plain: Json = {"mode": item.get("mode")}
    for edge in ("start", "end"):
        value = item.get(edge)
        plain[edge] = {key: value.get(key) for key in edges} if isinstance(value, dict) else value
    if item.get("mode") == "weekly":
        plain["week"] = item.get("week")
    return plain


def rights_faults(name: str, rights: Any) -> list[str]:
    """Return the faults in the shape of shown rights. Unknown modes and effects are allowed."""
    if rights is None:
        return []
    if not isinstance(rights, dict):
        return [f"{name}: expected an object, got {kind(rights)}"]
    found = []
    if not isinstance(rights.get("default_mode"), str):
        found.append(f"{name}.default_mode: expected a string, got {kind(rights.get('default_mode'))}")
    key, identifier = ("areas_list", "area_id") if name == "devices_pass" else ("key_devices_list", "key_device_id")
    entries = rights.get(key)
    if entries is None:
        return found
    if not isinstance(entries, list):
        return [*found, f"{name}.{key}: expected an array, got {kind(entries)}"]
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get(identifier), str):
            found.append(f"{name}.{key}[{number}].{identifier}: expected a string")
    return found[:3]
