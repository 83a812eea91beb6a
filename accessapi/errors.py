"""Errors of a call, as a tree that answers one question: was the call applied?

::

    ServiceError
    |-- Rejected            surely not applied: a documented 4xx, or any with the body of an application error
    |   |-- Invalid         400, the service reports the problem in `code` and `detail`
    |   |-- Unauthorised    401, token unknown or revoked
    |   |-- Forbidden       403, scope, contract or licence missing
    |   |-- NotFound        404
    |   |-- Conflict        409, for example a card that is already registered
    |   |-- TooLarge        413, request body above 4 MB
    |   |-- RateLimited     429, with `retry_after` in seconds
    |   `-- OAuthError      an error code of the OAuth endpoints
    |-- NotSent             surely not applied: not one byte of the request was written
    |   `-- InvalidRequest  refused here, before connecting, with the problems per field
    `-- OutcomeUnknown      may have been applied: read the state before anything else
        |-- TimedOut
        |-- ConnectionLost
        |-- ServerFault     5xx
        |-- UnreadableAnswer  a 2xx that differs from the specification
        `-- UnexpectedStatus  any other status, redirects among them

Specification: part "Errors" (body shape, 40002, 40901, 413, 429); the other statuses are assumed defaults.

The text of an exception never repeats the service's own texts (`detail`, `message`), which may contain a card number
or another secret. Show those attributes to the person who made the request; do not log them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}\Z")
# The specification's application errors have a code of five digits.
_APPLICATION = re.compile(r"[0-9]{5}\Z")


class ServiceError(Exception):
    """Any error of a call. The three direct subclasses show whether the call was applied."""


class Rejected(ServiceError):
    """The service refused: nothing was applied. `code` is its five-digit error code ("" without one)."""

    def __init__(self, status: int, code: str = "", detail: str = "", message: str = "") -> None:
        self.status = status
        self.code = code
        self.detail = detail
        self.message = message
        suffix = f", code {code}" if _CODE.match(code) else ""
        super().__init__(f"refused by the service: HTTP {status}{suffix}")


class Invalid(Rejected):
    """400: the parameters are not valid (40002)."""


class Unauthorised(Rejected):
    """401: the access token is unknown or revoked. Reconnect."""


class Forbidden(Rejected):
    """403: a scope, a contract or the licence is missing."""


class NotFound(Rejected):
    """404: no such object. For a repeated deletion this means success."""


class Conflict(Rejected):
    """409: already registered (40901 for a card)."""


class TooLarge(Rejected):
    """413: the request body is larger than the service accepts."""


class RateLimited(Rejected):
    """429: no calls are left this hour.

    `retry_after` is the number of seconds until reset; None if the service does not send it.
    """

    def __init__(
        self,
        status: int = 429,
        code: str = "",
        detail: str = "",
        message: str = "",
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(status, code, detail, message)
        self.retry_after = retry_after


class OAuthError(Rejected):
    """An OAuth endpoint refused: `code` is invalid_client, invalid_request, invalid_grant, … or not_found."""


class NotSent(ServiceError):
    """Nothing reached the service; the same call may be repeated. `reason` is a short machine-readable word."""

    def __init__(self, reason: str, message: str = "") -> None:
        self.reason = reason
        super().__init__(message or f"not sent: {reason}")


@dataclass(frozen=True)
class FieldProblem:
    """One problem of a request: where (dotted path), what (a stable word), and an English text without the value."""

    field: str
    kind: str
    message: str


class InvalidRequest(NotSent):
    """Refused by the limits of the specification before anything was sent."""

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        self.problems = problems
        fields = ", ".join(problem.field or "(body)" for problem in problems[:10])
        super().__init__("invalid_request", f"not sent: the request breaks the specification at {fields}")


class OutcomeUnknown(ServiceError):
    """The request was, or may have been, written and no trustworthy answer came. Never resend it without a check."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        self.reason = reason
        self.status = status
        suffix = f" (HTTP {status})" if status is not None else ""
        super().__init__(f"outcome unknown: {reason}{suffix}")


class TimedOut(OutcomeUnknown):
    """No complete answer in time. The connection is closed."""


class ConnectionLost(OutcomeUnknown):
    """The connection broke after the request began to be written."""


class ServerFault(OutcomeUnknown):
    """5xx: the service failed somewhere, before or after applying."""


class UnreadableAnswer(OutcomeUnknown):
    """A 2xx whose body is not what the specification says, too large, or a list whose cursor repeats."""


class UnexpectedStatus(OutcomeUnknown):
    """A status the interface does not document, for example a redirect."""


REJECTIONS: dict[int, type[Rejected]] = {
    400: Invalid,
    401: Unauthorised,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: RateLimited,
}


def error_for_status(
    status: int, *, code: str = "", detail: str = "", message: str = "", retry_after: int | None = None
) -> ServiceError:
    """Return the error class for an HTTP status outside 2xx."""
    if status == 429:
        return RateLimited(status, code, detail, message, retry_after=retry_after)
    if status in REJECTIONS:
        return REJECTIONS[status](status, code, detail, message)
    if 400 <= status <= 499 and _APPLICATION.match(code):  # statuses and codes are not tied
        return Rejected(status, code, detail, message)
    if 500 <= status <= 599:
        return ServerFault("the service failed", status)
    return UnexpectedStatus("undocumented status", status)
