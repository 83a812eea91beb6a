"""Read bodies and queries with the request models of `accessapi`; an error names the field."""

from collections.abc import Collection
from email.errors import MessageError
from io import BytesIO
from typing import Any

from django.http.multipartparser import MultiPartParser, MultiPartParserError
from pydantic import ValidationError

from accessapi import limits
from accessapi.resources.registry import QUERIES, REQUESTS
from sandbox.catalogue import CATALOGUE
from sandbox.errors import ApiError, invalid

from .call import Call

#: The first and last bytes of the files.
_IMAGES = {
    "image/jpeg": (b"\xff\xd8\xff", b"\xff\xd9"),
    "image/png": (b"\x89PNG\r\n\x1a\n", b"IEND"),
}


def read_body(call: Call) -> dict[str, Any]:
    """Return the JSON body as validated by the operation's model, with only the keys that were given.

    Raises ApiError 40002 with the name of the first wrong field.
    """
    body = call.json()
    if call.operation.name == "update_member":
        _read_removal(body)
    if call.operation.name == "bulk_update_members" and isinstance(body.get("members"), list):
        for item in body["members"]:
            if isinstance(item, dict):
                _read_removal(item)
    try:
        return REQUESTS[call.operation.name].model_validate(body, context={"limits": CATALOGUE.limits}).to_body()
    except ValidationError as error:
        raise _to_api_error(error) from None


def read_query(call: Call) -> Any:
    """Return the query as validated by the operation's model. Raises ApiError 40002 with the first wrong parameter."""
    model = QUERIES[call.operation.name]
    try:
        return model.model_validate(call.query(*model.model_fields))
    except ValidationError as error:
        raise _to_api_error(error) from None


def read_face_image(call: Call) -> bytes:
    """Return a face image: a JPEG of at most 2 MB, raw or in a form, by the shapes. Raises ApiError 40002."""
    return _read_image(call, {"image/jpeg"}, "image: not a JPEG")[0]


def read_profile_image(call: Call) -> tuple[bytes, str]:
    """Return a profile image and its content type: a JPEG or PNG, with a face image's size limit (assumed).

    Raises ApiError 40002.
    """
    return _read_image(call, set(_IMAGES), "image: neither JPEG nor PNG")


def _read_image(call: Call, kinds: Collection[str], wrong: str) -> tuple[bytes, str]:
    content = _read_upload(call)
    if len(content) > limits.FACE_IMAGE_MAX:
        raise invalid(f"image: larger than {limits.FACE_IMAGE_MAX} bytes")
    # Detect the type by the file's content, not by its name or declared type.
    for kind in kinds:
        start, end = _IMAGES[kind]
        if content.startswith(start) and end in content[-64:]:
            return content, kind
    raise invalid(wrong)


def _read_upload(call: Call) -> bytes:
    content = call.raw()
    if CATALOGUE.shapes.image_body == "raw":
        return content
    meta = call.request.META | {"CONTENT_LENGTH": str(len(content))}
    try:
        _, files = MultiPartParser(meta, BytesIO(content), call.request.upload_handlers).parse()
    except (MultiPartParserError, MessageError) as error:
        raise invalid("body: not multipart/form-data") from error
    field = CATALOGUE.shapes.image_field
    if not (sent := files.getlist(field)):
        raise invalid(f"{field}: missing")
    return bytes(sent[-1].read())


def _read_removal(body: dict[str, Any]) -> None:
    """Replace the environment's way of removing QR information with null, which the models accept."""
    removal = CATALOGUE.shapes.qr_removal
    if "qrcode" not in body:
        return
    if body["qrcode"] == removal:
        body["qrcode"] = None
    elif body["qrcode"] is None:
        raise invalid("qrcode: may not be null")


def _to_api_error(error: ValidationError) -> ApiError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "body"
    return invalid(f"{field}: {first['msg']}")
