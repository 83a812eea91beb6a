"""Turn an operation and Python values into a request. Nothing here opens a connection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from pydantic import ValidationError

from accessapi import limits
from accessapi.errors import FieldProblem, InvalidRequest
from accessapi.operations import Body, Operation
from accessapi.overrides import Limits, Shapes
from accessapi.resources import registry
from accessapi.resources.sent import SentModel

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Image:
    """An image file as a request body; `content_type` is image/jpeg for faces."""

    content: bytes = field(repr=False)
    content_type: str = limits.FACE_IMAGE_CONTENT_TYPE


def field_problems(error: ValidationError) -> tuple[FieldProblem, ...]:
    """Return the problem of each field, without the values (they may be secrets)."""
    return tuple(
        FieldProblem(".".join(str(part) for part in fault["loc"]), fault["type"], fault["msg"])
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )


def invalid_request(name: str, kind: str, message: str) -> InvalidRequest:
    return InvalidRequest((FieldProblem(name, kind, message),))


def encode_path(operation: Operation, values: Mapping[str, str]) -> str:
    """Return the path with its parameters quoted, so that an identifier can never change the called operation.

    Raises `InvalidRequest` for a missing, surplus, empty or dot-only parameter.
    """
    path = operation.path
    if set(values) != set(operation.parameters):
        raise invalid_request("path", "path_parameters", f"needs exactly: {', '.join(operation.parameters) or 'none'}")
    for name, value in values.items():
        if not isinstance(value, str) or value in ("", ".", "..") or not value.isprintable():
            raise invalid_request(name, "identifier", "is not an identifier")
        path = path.replace("{" + name + "}", quote(value, safe=""))
    return path


def encode_query(operation: Operation, values: Mapping[str, Any]) -> str:
    """Return the query string; values that are None are left out.

    Raises `InvalidRequest` for values outside the specified limits.
    """
    given = {name: value for name, value in values.items() if value is not None}
    model = registry.QUERIES.get(operation.name)
    if model is None:
        if given:
            raise invalid_request(next(iter(given)), "extra_forbidden", "takes no query parameters")
        return ""
    checked = _validate(model, given, carry=False)
    return urlencode(checked, quote_via=quote)


def validate_body(operation: Operation, body: Any, stated: Limits | None = None) -> Any:
    """Return the body as plain JSON values, or the image, after all limits were checked.

    The environment's `stated` limits are checked too. `body` is the operation's request model, a mapping, an `Image` or
    None; keys that were not given are left out. Raises `InvalidRequest`.
    """
    if operation.body is Body.NONE:
        if body is not None:
            raise invalid_request("", "body", "takes no body")
        return None
    if operation.body is Body.IMAGE:
        return _validate_image(operation, body)
    model = registry.REQUESTS[operation.name]
    if isinstance(body, SentModel):
        body = body.to_body()
    if not isinstance(body, Mapping):
        raise invalid_request("", "body", "needs a JSON object as its body")
    return _validate(model, dict(body), carry=True, stated=stated)


def _validate(model: type[SentModel], values: Json, *, carry: bool, stated: Limits | None = None) -> Json:
    faults: tuple[FieldProblem, ...]
    try:
        checked = model.model_validate(values, context={"carry_unknown": carry, "limits": stated})
    except ValidationError as error:
        faults = field_problems(error)
    else:
        return checked.to_body()
    raise InvalidRequest(faults)


def _validate_image(operation: Operation, body: Any) -> Image:
    if not isinstance(body, Image) or not body.content:
        raise invalid_request("image", "body", "needs an image as its body")
    if operation.name == "register_face_image":
        if body.content_type != limits.FACE_IMAGE_CONTENT_TYPE:
            raise invalid_request("image", "content_type", "a face image must be a JPEG file")
        if len(body.content) > limits.FACE_IMAGE_MAX:
            raise invalid_request("image", "too_large", "a face image may have at most 2 MB")
    return body


def encode_json(operation: Operation, body: Json, shapes: Shapes) -> bytes:
    """Return a checked body as bytes, with the environment's shape for removing QR information.

    Raises `InvalidRequest` for a bulk body above 4 MB.
    """
    content = json.dumps(_apply_shapes(body, shapes), ensure_ascii=False, separators=(",", ":")).encode()
    if operation.name.startswith("bulk_") and len(content) > limits.BULK_BODY_MAX:
        raise invalid_request("members", "too_large", "a bulk request may have at most 4 MB")
    return content


def _apply_shapes(body: Json, shapes: Shapes) -> Json:
    if shapes.qr_removal is None:
        return body
    if body.get("qrcode", body) is None:
        body = {**body, "qrcode": shapes.qr_removal}
    if isinstance(body.get("members"), list):
        body = {**body, "members": [_apply_shapes(member, shapes) for member in body["members"]]}
    return body


def encode_image(image: Image, shapes: Shapes) -> tuple[bytes, str]:
    """Return content and Content-Type of an image, raw or as the only item of a multipart body."""
    if shapes.image_body == "raw":
        return image.content, image.content_type
    boundary = uuid4().hex
    # Browsers escape only these three.
    name = shapes.image_field.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="{name}"; filename="image"\r\n'
        f"Content-Type: {image.content_type}\r\n\r\n"
    )
    tail = f"\r\n--{boundary}--\r\n"
    content = head.encode() + image.content + tail.encode()
    return content, f"multipart/form-data; boundary={boundary}"


def is_header_value(value: str) -> bool:
    """Return whether a secret can be sent in a header."""
    return bool(value) and value.isascii() and value.isprintable() and " " not in value
