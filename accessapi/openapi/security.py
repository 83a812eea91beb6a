"""How a call is authenticated. Specification: part "Authentication"."""

from __future__ import annotations

from typing import Any

from accessapi.operations import CallClass, Operation

_BEARER, _LICENCE, _AUTHORIZATIONS = "accessToken", "licenceKey", "authorizations"


def schemes() -> dict[str, Any]:
    """Return the three security schemes, by name."""
    return {
        _BEARER: {"type": "http", "scheme": "bearer", "description": "The access token of one tenant."},
        _LICENCE: {
            "type": "apiKey",
            "in": "header",
            "name": "License-Key",
            "description": "The key of the paid extension licence, besides the access token.",
        },
        _AUTHORIZATIONS: {
            "type": "apiKey",
            "in": "header",
            "name": "AUTHORIZATIONS",
            "description": "`Bearer ` and a live access token of the same client, besides its credentials in the form.",
        },
    }


def security_of(operation: Operation) -> list[dict[str, list[str]]]:
    """Return the security requirement of an operation; an empty list when it needs none."""
    if operation.name in ("reissue_token", "revoke_token"):
        return [{_AUTHORIZATIONS: []}]
    if operation.call_class is CallClass.OAUTH:
        return []
    return [{_BEARER: [], _LICENCE: []}] if operation.needs_licence else [{_BEARER: []}]
