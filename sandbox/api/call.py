"""One call of the API during its processing."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from gunicorn.http.errors import ParseException

from accessapi import limits
from accessapi.operations import Operation
from sandbox.behaviour import Behaviour
from sandbox.errors import TOO_LARGE, ApiError, invalid, not_found
from sandbox.service.models import AccessToken, Tenant


@dataclass
class Call:
    """A call with a known token, with the parameters of its path."""

    request: HttpRequest
    operation: Operation
    path: dict[str, str]
    token: AccessToken
    tenant: Tenant
    behaviour: Behaviour
    at: datetime

    def query(self, *allowed: str) -> dict[str, str]:
        """Return the query's parameters. Raises 40002 for an unknown or repeated one."""
        found = {}
        for name in self.request.GET:
            values = self.request.GET.getlist(name)
            if name not in allowed:
                raise invalid(f"{name[:60]}: unknown parameter")
            if len(values) > 1:
                raise invalid(f"{name}: repeated")
            if "\0" in values[0]:
                raise invalid(f"{name}: characters that cannot be used")
            found[name] = values[0]
        return found

    def identifier(self, name: str) -> str:
        """Return an identifier of the path. Raises 404 if PostgreSQL cannot store it, because then it cannot exist."""
        if "\0" in (value := self.path[name]):
            raise not_found(name)
        return value

    def raw(self) -> bytes:
        """Return the body. Raises 413 above 4 MB, and 40002 if it is incomplete or its chunks are malformed."""
        stream = self.request.META["wsgi.input"]
        try:
            body: bytes = stream.read(limits.BULK_BODY_MAX + 1)
        except (OSError, ParseException):
            raise invalid("body: cannot be read") from None
        if len(body) <= limits.BULK_BODY_MAX:
            return body
        raise ApiError(413, TOO_LARGE, f"the body is larger than {limits.BULK_BODY_MAX} bytes")

    def json(self) -> dict[str, Any]:
        """Return the body as a JSON object. Raises 40002 if it is not one."""
        try:
            value = json.loads(
                self.raw().decode(), object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant
            )
        except UnicodeDecodeError:
            raise invalid("body: not UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise invalid(f"body: not JSON ({str(error)[:100]})") from None
        if not isinstance(value, dict):
            raise invalid("body: must be an object")
        return value


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


def _reject_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
