"""Answers, errors and the rate headers. Specification: parts "Endpoints", "Errors", "Limits"."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from accessapi.openapi.schemas import ref
from accessapi.operations import Body, Operation
from accessapi.overrides import Catalogue
from accessapi.resources import registry

Json = dict[str, Any]

#: Errors by status: their meaning and whether the specification has them.
_ERRORS: dict[int, tuple[str, str]] = {
    400: ("The request's parameters are not valid (40002).", "specified"),
    401: ("The access token is missing, unknown or revoked.", "assumed"),
    403: ("A scope, a contract or the licence is missing.", "assumed"),
    404: ("There is no such object.", "assumed"),
    409: ("Registered already: card information (40901), a face or a QR code.", "assumed"),
    413: ("The body is above 4 MB.", "specified"),
    429: ("The window's calls are used up; X-Rate-Limit-Reset says for how many seconds.", "specified"),
}
_CONFLICTS = ("create_member", "update_member", "register_face_image", "create_guest", "update_guest")
_RATE_HEADERS = {
    "X-Rate-Limit-Limit": ("RateLimit", "Calls that the token has in the window, of this class."),
    "X-Rate-Limit-Remaining": ("RateRemaining", "Calls that are left."),
    "X-Rate-Limit-Reset": ("RateReset", "Seconds until calls are taken again; only while limited."),
}


def headers(catalogue: Catalogue) -> Json:
    """Return the rate headers as components."""
    window = f" The window is {catalogue.limits.window_seconds} s; general calls have {catalogue.limits.general}"
    window += f" and calls of devices {catalogue.limits.device}."
    count = {"type": "integer", "minimum": 0}
    found = {name: {"description": text, "schema": count} for name, text in _RATE_HEADERS.values()}
    found["RateLimit"] = {"description": _RATE_HEADERS["X-Rate-Limit-Limit"][1] + window, "schema": count}
    return found


def responses() -> Json:
    """Return the application errors as components, by reason."""
    found: Json = {}
    for status, (text, provenance) in _ERRORS.items():
        found[_component_name(status)] = _error(text) | {"x-provenance": provenance}
        if status != 401:
            found[_component_name(status)]["headers"] = _rate_headers(limited=status == 429)
    found["OtherError"] = _error("Any other refusal.") | {"x-provenance": "assumed"}
    return found


def responses_of(operation: Operation) -> Json:
    """Return the answers of an operation outside of OAuth, by status."""
    found: Json = {"200": {"description": "Done, or accepted where the answer carries a request_id."}}
    if content := _content(operation):
        found["200"]["content"] = {"application/json": {"schema": content}}
    found["200"]["headers"] = _rate_headers(limited=False)
    for status in sorted(_statuses(operation)):
        found[str(status)] = {"$ref": f"#/components/responses/{_component_name(status)}"}
    return found | {"default": {"$ref": "#/components/responses/OtherError"}}


def _content(operation: Operation) -> Json | None:
    model = registry.ANSWERS.get(operation.name)
    if model is None:
        # The webhook update answers with an empty object; no body is shown for deletions.
        return {"type": "object"} if operation.body is Body.JSON else None
    if operation.list_key is None:
        return ref(model.__name__)
    fields: Json = {operation.list_key: {"type": "array", "items": ref(model.__name__)}}
    if operation.is_paged:
        fields["last_evaluated_key"] = {"type": "string", "description": "Only when more data exists."}
    return {"type": "object", "properties": fields, "required": [operation.list_key]}


def _statuses(operation: Operation) -> set[int]:
    found = {400, 401, 429}
    if operation.scope or operation.contract or operation.needs_licence:
        found.add(403)
    if operation.parameters:
        found.add(404)
    if operation.name in _CONFLICTS:
        found.add(409)
    if operation.body is not Body.NONE:
        found.add(413)
    return found


def _error(text: str) -> Json:
    return {"description": text, "content": {"application/json": {"schema": ref("Error")}}}


def _rate_headers(*, limited: bool) -> Json:
    names = list(_RATE_HEADERS) if limited else list(_RATE_HEADERS)[:2]
    return {name: {"$ref": f"#/components/headers/{_RATE_HEADERS[name][0]}"} for name in names}


def _component_name(status: int) -> str:
    return HTTPStatus(status).phrase.replace(" ", "")
