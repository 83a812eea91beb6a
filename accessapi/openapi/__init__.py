"""The interface as an OpenAPI 3.1 document, built from the table of operations and the models of the resources.

It is strict about requests (every limit of the specification, no other field) and tolerant about answers (more fields,
other values). `x-` fields hold facts that only this project has: see `paths`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accessapi.openapi.paths import operation_object, webhook_object
from accessapi.openapi.responses import headers, responses
from accessapi.openapi.schemas import schemas
from accessapi.openapi.security import schemes
from accessapi.overrides import Catalogue

_DESCRIPTION = """\
Physical access control for one organisation: members, guests, areas, doors, key boxes, logs and cameras.

Each operation says in `x-provenance` where its method and path come from: `specified`, `published` (public developer
pages of a service with this interface) or `assumed`. Statuses other than 400, 413 and 429 are assumed throughout.
Datetimes carry the fixed offset +09:00. Keys left out of an update stay as they are."""


def build_document(catalogue: Catalogue | None = None, servers: Sequence[str] = ()) -> dict[str, Any]:
    """Return the whole document as JSON values. `servers` are base addresses; none means the document's own.

    Specification: all parts. Method, path and shapes follow the overrides of `catalogue`.
    """
    catalogue = catalogue or Catalogue()
    paths: dict[str, dict[str, Any]] = {}
    for operation in catalogue:
        paths.setdefault(operation.path, {})[operation.method.lower()] = operation_object(operation, catalogue)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Access-control service", "version": "1", "description": _DESCRIPTION},
        "servers": [{"url": url} for url in servers or ("/",)],
        "paths": paths,
        "webhooks": {"history": {"post": webhook_object(catalogue)}},
        "components": {
            "schemas": schemas(catalogue),
            "headers": headers(catalogue),
            "responses": responses(),
            "securitySchemes": schemes(),
        },
    }
