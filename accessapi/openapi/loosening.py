"""Turn the schema of what may be sent into the schema of what may be received."""

from __future__ import annotations

from typing import Any

_PREFIX = "Received"


def loosened(definitions: dict[str, Any], at: str) -> dict[str, Any]:
    """Return the components under other names, open for more fields, other values and other variants."""
    return {_PREFIX + name: _loose(schema, at) for name, schema in definitions.items()}


def _loose(value: Any, at: str) -> Any:
    if isinstance(value, list):
        return [_loose(item, at) for item in value]
    if not isinstance(value, dict):
        return value
    if "discriminator" in value:
        return _variants(value, at)
    if "enum" in value:
        return {"type": "string", "examples": value["enum"]}
    kept = {name: item for name, item in value.items() if name not in ("additionalProperties", "oneOf", "anyOf")}
    if "$ref" in kept:
        return {"$ref": at + _PREFIX + kept["$ref"].removeprefix(at)}
    return {name: _loose(item, at) for name, item in kept.items()}


def _variants(value: dict[str, Any], at: str) -> dict[str, Any]:
    """Return the known variants, and any other under another name."""
    key, names = value["discriminator"]["propertyName"], list(value["discriminator"]["mapping"])
    other = {"type": "object", "properties": {key: {"type": "string", "not": {"enum": names}}}, "required": [key]}
    return {"anyOf": [*_loose(value["oneOf"], at), other]}
