"""The four OAuth endpoints, which have no models. Specification: "OAuth endpoints", "Errors"."""

from __future__ import annotations

from typing import Any

from accessapi.openapi.schemas import ref

Json = dict[str, Any]
_TEXT: Json = {"type": "string", "minLength": 1}
_CREDENTIALS = ("client_id", "client_secret")
_AUTHORIZE = {
    "response_type": "Must be code.",
    "client_id": "The client, registered beforehand.",
    "redirect_uri": "One of the registered redirect URIs, to the letter.",
    "state": "Returned unchanged with the code.",
}
_FIELDS: dict[str, tuple[str, ...]] = {
    "issue_token": ("grant_type", *_CREDENTIALS, "code", "redirect_uri"),
    "reissue_token": (*_CREDENTIALS, "token"),
    "revoke_token": (*_CREDENTIALS, "token"),
}
_CODES = {
    "issue_token": "invalid_client, invalid_request, invalid_grant, unsupported_grant_type",
    "reissue_token": "invalid_client, invalid_request",
    "revoke_token": "invalid_client, invalid_request",
}


def parameters() -> list[Json]:
    """Return the query parameters of the authorization endpoint, which refuses other and repeated ones."""
    return [
        {
            "name": name,
            "in": "query",
            "required": name != "state",
            "description": text,
            "schema": _constant("code") if name == "response_type" else {"type": "string"},
        }
        for name, text in _AUTHORIZE.items()
    ]


def form(name: str) -> Json:
    """Return the form of one of the other three endpoints."""
    fields = _FIELDS[name]
    schema = {
        "type": "object",
        "properties": {field: _constant("authorization_code") if field == "grant_type" else _TEXT for field in fields},
        "required": list(fields),
    }
    return {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": schema}}}


def oauth_responses_of(name: str) -> Json:
    """Return the answers of an OAuth operation, by status. Statuses of errors are assumed."""
    if name == "authorize":
        return _authorize()
    token = {"type": "object", "properties": {"token_type": _TEXT, "access_token": _TEXT}}
    token["required"] = ["token_type", "access_token"]
    found: Json = {"200": {"description": "Revoked; no body is shown."}}
    if name != "revoke_token":
        found = {"200": {"description": "A token.", "content": {"application/json": {"schema": token}}}}
    found["400"] = _refused(_CODES[name])
    if name != "issue_token":
        found["404"] = _refused("Not Found: the token does not exist")
    return found


def _authorize() -> Json:
    location = {"Location": {"description": "The redirect URI with code and state.", "schema": {"type": "string"}}}
    return {
        "200": {
            "description": "The member site asks who you are and whether you consent.",
            "content": {"text/html": {}},
        },
        "302": {"description": "Approved or refused: back to the redirect URI.", "headers": location},
        "400": {
            "description": "client_id or redirect_uri cannot be trusted: said here, not at the redirect URI.",
            "content": {"text/html": {}, "application/json": {"schema": ref("OAuthError")}},
        },
    }


def _refused(codes: str) -> Json:
    return {"description": codes, "content": {"application/json": {"schema": ref("OAuthError")}}}


def _constant(word: str) -> Json:
    return {"type": "string", "const": word}
