"""Describe the sandbox from its own code: the OpenAPI document and the table of its behaviour."""

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from accessapi.openapi import build_document
from accessapi.operations import Operation
from sandbox.api.dispatch import HANDLERS
from sandbox.catalogue import CATALOGUE
from sandbox.errors import NOT_FOUND, ApiError
from sandbox.oauth import pages, tokens

_VIEWS: dict[str, Callable[..., Any]] = {
    "authorize": pages.authorize,
    "issue_token": tokens.issue,
    "reissue_token": tokens.update,
    "revoke_token": tokens.revoke,
}
_INTRODUCTION = """\
# The service, operation by operation

Each operation of the specification: where its method and path come from, how the sandbox behaves, and what the contract
suite holds of any service that offers it. Made by `make docs` from the table of operations, the sandbox's handlers and
the suite's cases; a test keeps it so. Scopes, contracts and delivery are in [operations.md](operations.md), every
field in [openapi.json](openapi.json), settings and assumed answers in [sandbox.md](sandbox.md).

| # | Operation | Method and path | Provenance | Sandbox | Contract cases |
|--|--|--|--|--|--|
"""


def openapi(request: HttpRequest) -> HttpResponse:
    """Return this sandbox's OpenAPI document (GET /openapi.json), with its overrides and its own address."""
    if request.method not in ("GET", "HEAD"):
        raise ApiError(404, NOT_FOUND, "no such operation")
    return JsonResponse(_document(request.build_absolute_uri("/").rstrip("/")))


@lru_cache(maxsize=8)
def _document(server: str) -> dict[str, Any]:
    return build_document(CATALOGUE, [server])


def describe_behaviour(operation: Operation) -> str:
    """Return the sandbox's behaviour in an operation: the first paragraph of its handler's docstring."""
    handler = HANDLERS.get(operation.name) or _VIEWS.get(operation.name)
    paragraph = (inspect.getdoc(handler) or "" if handler else "Not offered: 404.").split("\n\n")[0]
    return " ".join(paragraph.split())


def table(cases: Mapping[str, list[str]]) -> str:
    """Return docs/service.md. `cases` has the contract suite's checks of each operation, by name."""
    return _INTRODUCTION + "".join(_row(operation, cases.get(operation.name, [])) for operation in CATALOGUE)


def _row(operation: Operation, cases: list[str]) -> str:
    cells = [
        str(operation.number),
        f"{operation.title} (`{operation.name}`)",
        f"`{operation.method} {operation.path}`",
        str(operation.provenance),
        _escape_cell(describe_behaviour(operation)),
        "<br>".join(f"· {_escape_cell(case)}" for case in cases),
    ]
    return f"| {' | '.join(cells)} |\n"


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")
