"""One operation of the document: parameters, body, answers and the table's other facts.

Every operation has `x-number`, `x-provenance`, `x-call-class` and `x-delivery`; `x-scope`, `x-contract`, `x-licence`
and `x-overridden` where they apply.
"""

from __future__ import annotations

from typing import Any

from accessapi import limits
from accessapi.openapi import oauth, responses
from accessapi.openapi.schemas import query_fields, ref
from accessapi.openapi.security import security_of
from accessapi.operations import Body, CallClass, Operation
from accessapi.overrides import Catalogue, Shapes
from accessapi.resources import registry

Json = dict[str, Any]


def operation_object(operation: Operation, catalogue: Catalogue) -> Json:
    """Return the operation object of one row of the table."""
    found: Json = {
        "operationId": operation.name,
        "summary": operation.title,
        "tags": [_tag(operation)],
        "security": security_of(operation),
    }
    if parameters := _parameters(operation):
        found["parameters"] = parameters
    if operation.body is not Body.NONE:
        found["requestBody"] = _body(operation, catalogue.shapes)
    if operation.call_class is CallClass.OAUTH:
        found["responses"] = oauth.oauth_responses_of(operation.name)
    else:
        found["responses"] = responses.responses_of(operation)
    return found | _extensions(operation)


def webhook_object(catalogue: Catalogue) -> Json:
    """Return the service's call to the tenant's own address after a log record (published)."""
    names = {
        catalogue.webhook.id_header: "Unique per request.",
        catalogue.webhook.signature_header: "HMAC-SHA256 of the raw body, keyed with the secret token; only with one.",
    }
    return {
        "summary": "A log was recorded",
        "parameters": [
            {"name": name, "in": "header", "description": text, "schema": {"type": "string"}}
            for name, text in names.items()
        ],
        "requestBody": {"content": {"application/json": {"schema": ref("WebhookMessage")}}},
        "responses": {"default": {"description": "Any answer will do; nothing is sent twice (assumed)."}},
        "x-provenance": "published",
    }


def _parameters(operation: Operation) -> list[Json]:
    if operation.name == "authorize":
        return oauth.parameters()
    found: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in operation.parameters
    ]
    if model := registry.QUERIES.get(operation.name):
        fields, required = query_fields(model)
        found += [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in fields.items()
        ]
    return found


def _body(operation: Operation, shapes: Shapes) -> Json:
    if operation.body is Body.FORM:
        return oauth.form(operation.name)
    if operation.body is Body.IMAGE:
        return _image(operation, shapes)
    schema = ref(registry.REQUESTS[operation.name].__name__)
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _image(operation: Operation, shapes: Shapes) -> Json:
    kind, text = "image/*", "An image file."
    if operation.name == "register_face_image":
        wide, high = limits.FACE_IMAGE_RECOMMENDED
        kind = limits.FACE_IMAGE_CONTENT_TYPE
        text = f"A face: JPEG only, at most {limits.FACE_IMAGE_MAX} bytes; {wide}x{high} pixels are recommended."
    binary = {"type": "string", "format": "binary"}
    content: Json = {kind: {"schema": binary}}
    if shapes.image_body == "multipart":
        form = {"type": "object", "properties": {shapes.image_field: binary}, "required": [shapes.image_field]}
        encoding = {shapes.image_field: {"contentType": kind}}
        content = {"multipart/form-data": {"schema": form, "encoding": encoding}}
    return {"required": True, "description": text, "content": content}


def _tag(operation: Operation) -> str:
    if operation.call_class is CallClass.OAUTH:
        return "oauth"
    if operation.scope:
        return operation.scope.partition(":")[0]
    return "devices" if operation.needs_licence else "requests"


def _extensions(operation: Operation) -> Json:
    found: Json = {
        "x-number": operation.number,
        "x-provenance": str(operation.provenance),
        "x-call-class": str(operation.call_class),
        "x-delivery": str(operation.delivery),
    }
    if operation.scope:
        found["x-scope"] = operation.scope
    if operation.contract:
        found["x-contract"] = str(operation.contract)
    if operation.needs_licence:
        found["x-licence"] = True
    if operation.is_overridden:
        found["x-overridden"] = True
    return found
