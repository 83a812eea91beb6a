"""The models of the resources as JSON Schema components.

Pydantic describes Python's input; `_BodySchema` describes the sent JSON: a key that is left out has no default, and
null is allowed only where the specification allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from accessapi.overrides import Catalogue
from accessapi.resources import registry
from accessapi.resources.histories import WebhookMessage
from accessapi.resources.received import ReceivedModel
from accessapi.resources.rights import DevicesPass, KeysPass
from accessapi.resources.sent import MOMENT_PATTERN, SentModel
from accessapi.webhook_format import WebhookFormat

Json = dict[str, Any]
_COMPONENTS = "#/components/schemas/"
_PREFIX = "Received"
_NULL = {"type": "null"}
_WITH_QR_REMOVAL = ("MemberUpdate", "BulkMember")


def ref(name: str) -> Json:
    """Return a reference to the component of a model."""
    return {"$ref": _COMPONENTS + name}


def schemas(catalogue: Catalogue) -> Json:
    """Return every model that an operation sends in a body or receives, by name."""
    sent = set(registry.REQUESTS.values())
    received: set[type[ReceivedModel]] = {*registry.ANSWERS.values(), WebhookMessage}
    found = _describe(sent) | _received(received) | _errors()
    for name in ("History", "WebhookMessage"):
        _add_examples(found[name]["properties"], catalogue)
    found["WebhookMessage"] |= _webhook_message_schema(found["WebhookMessage"], catalogue.webhook)
    removal = catalogue.shapes.qr_removal
    if removal is not None:
        for name in _WITH_QR_REMOVAL:
            found[name]["properties"]["qrcode"] = {"anyOf": [ref("QrCode"), {"const": removal}]}
    found["OneTimeQr"]["properties"]["timestep"]["maximum"] = catalogue.limits.one_time_timestep_max
    return dict(sorted(found.items()))


def query_fields(model: type[SentModel]) -> tuple[Json, list[str]]:
    """Return the schemas of a query's parameters by name, with the service's defaults, and the required names."""
    schema = model.model_json_schema(schema_generator=_QuerySchema)
    return schema["properties"], schema.get("required", [])


def _add_examples(record: Json, catalogue: Catalogue) -> None:
    """Add this service's words as examples to a record's category and status."""
    words = {"category": catalogue.records.categories, "status": ("occur", *catalogue.states.over[:1])}
    for name, examples in words.items():
        record[name] |= {"examples": list(examples)}


def _webhook_message_schema(record: Json, webhook: WebhookFormat) -> Json:
    """Return the fields of a notification at this service's places and under its names."""

    def described(part: Any) -> Json:
        if isinstance(part, str):
            field: Json = record["properties"][part]
            return field
        needed = [name for name, inner in part.items() if _contains(inner, record["required"])]
        fields = {name: described(inner) for name, inner in part.items()}
        return {"type": "object", "properties": fields, "required": needed}

    return described(webhook.build_body({name: name for name in record["properties"]}))


def _contains(part: Any, names: list[str]) -> bool:
    return part in names if isinstance(part, str) else any(_contains(inner, names) for inner in part.values())


def _describe(models: Iterable[type[BaseModel]]) -> Json:
    sorted_models = sorted(models, key=lambda model: model.__name__)
    _, schema = models_json_schema(
        [(model, "validation") for model in sorted_models],
        ref_template=_COMPONENTS + "{model}",
        schema_generator=_BodySchema,
    )
    definitions: Json = schema["$defs"]
    return definitions


def _received(models: set[type[ReceivedModel]]) -> Json:
    found = _describe(models)
    # Rights are plain objects: a sent one has a fixed form, a received one may have more.
    found |= _for_receiving(_describe({DevicesPass, KeysPass}))
    for schema in found.values():
        for name, rights in (("devices_pass", "ReceivedDevicesPass"), ("keys_pass", "ReceivedKeysPass")):
            if name in schema.get("properties", {}):
                schema["properties"][name] = ref(rights)
    return found


def _errors() -> Json:
    text = {"type": "string"}
    code = {"type": "string", "pattern": "^[0-9]{5}$"}
    oauth = {"error": text, "error_description": text}
    application = {"message": text, "error_code": code, "error_detail": text}
    return {
        "Error": {
            "type": "object",
            "description": "An application error: the HTTP reason, a code of five digits, and what is wrong.",
            "properties": application,
            "required": list(application),
        },
        "OAuthError": {
            "type": "object",
            "description": "An error of the OAuth endpoints. The specification gives the codes; the shape is assumed.",
            "properties": oauth,
            "required": ["error"],
        },
    }


def _for_receiving(definitions: Json) -> Json:
    """Return the components under other names, with more fields, other values and other variants allowed."""
    return {_PREFIX + name: _open_schema(schema) for name, schema in definitions.items()}


def _open_schema(value: Any) -> Any:
    if isinstance(value, list):
        return [_open_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "discriminator" in value:
        return _variants(value)
    if "enum" in value:
        return {"type": "string", "examples": value["enum"]}
    schema = {name: item for name, item in value.items() if name not in ("additionalProperties", "oneOf", "anyOf")}
    if "$ref" in schema:
        return {"$ref": _COMPONENTS + _PREFIX + schema["$ref"].removeprefix(_COMPONENTS)}
    return {name: _open_schema(item) for name, item in schema.items()}


def _variants(value: Json) -> Json:
    """Return the known variants, and an unknown one under another name."""
    key, names = value["discriminator"]["propertyName"], list(value["discriminator"]["mapping"])
    other = {"type": "object", "properties": {key: {"type": "string", "not": {"enum": names}}}, "required": [key]}
    return {"anyOf": [*_open_schema(value["oneOf"]), other]}


class _BodySchema(GenerateJsonSchema):
    """Schemas of JSON bodies."""

    keeps_defaults = False

    def model_schema(self, schema: core_schema.ModelSchema) -> Json:
        described = super().model_schema(schema)
        model: type[SentModel | ReceivedModel] = schema["cls"]
        received = issubclass(model, ReceivedModel)
        described.pop("title", None)
        if "description" in described:
            # The paragraphs after the first are for readers of the code.
            described["description"] = " ".join(described["description"].split("\n\n")[0].split())
        for name, field in described.get("properties", {}).items():
            described["properties"][name] = self._field(field, null=name in model.nullable, received=received)
        return described

    def _field(self, field: Json, *, null: bool, received: bool) -> Json:
        field = {name: value for name, value in field.items() if name != "title"}
        default = field.pop("default", None)
        if not null and _NULL in field.get("anyOf", ()):
            choices = [choice for choice in field.pop("anyOf") if choice != _NULL]
            field |= choices[0] if len(choices) == 1 else {"anyOf": choices}
        if received and field.get("format") == "date-time":
            field["pattern"] = MOMENT_PATTERN
        if self.keeps_defaults and default not in (None, ""):
            field["default"] = default
        return field


class _QuerySchema(_BodySchema):
    keeps_defaults = True
