"""The kinds of faults that can be added.

Each kind defines when it acts (before the work or after it) and its answer; `seconds` is a wait before it.
"""

import time
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sandbox.errors import LIMITED, ApiError

from .broken_connections import Answer, BrokenResponse

OAUTH = (37, 40)
_PAGE = "<!doctype html><title>Please wait</title><p>This is a page and no JSON.</p>"


class Fault(BaseModel):
    """Base of all faults; alone it does nothing."""

    model_config = ConfigDict(extra="forbid")
    #: Whether the service receives the call: then it counts against the limit, and its answer has rate headers.
    is_counted: ClassVar[bool] = True

    kind: str = ""
    when: Literal["before", "after"] = "before"
    seconds: float = Field(default=0, ge=0, le=120)

    def before(self, request: HttpRequest, operation: int) -> Answer | None:
        """Act before the work: wait, and return the answer that replaces it, if any."""
        if self.when != "before":
            return None
        time.sleep(self.seconds)
        return self.answer(request, operation, None)

    def after(self, request: HttpRequest, operation: int, response: Answer) -> Answer:
        """Act after the work: wait, and return the answer or what is left of it."""
        if self.when != "after":
            return response
        time.sleep(self.seconds)
        return self.answer(request, operation, response) or response

    def answer(self, request: HttpRequest, operation: int, response: Answer | None) -> Answer | None:
        """Return the answer in place of the real one (None before the work); None keeps it."""
        return None


class Latency(Fault):
    """Only a wait."""

    kind: Literal["latency"] = "latency"
    seconds: float = Field(gt=0, le=120)


class Status(Fault):
    """An HTTP status with the service's error body, OAuth's at its endpoints, or any other text."""

    kind: Literal["status"] = "status"
    status: int = Field(ge=400, le=599)
    error_code: str | None = Field(None, max_length=60)
    error_detail: str = Field("a fault that was asked for", max_length=500)
    body: str | None = Field(None, max_length=1_000_000)
    content_type: str = Field("text/html; charset=utf-8", max_length=100, pattern=r"^[\x20-\x7e]+$")

    def answer(self, request: HttpRequest, operation: int, response: Answer | None) -> HttpResponse:
        if self.body is not None:
            return HttpResponse(self.body, status=self.status, content_type=self.content_type)
        return JsonResponse(self._error(operation), status=self.status)

    def _error(self, operation: int) -> dict[str, str]:
        if OAUTH[0] <= operation <= OAUTH[1]:
            return {"error": self.error_code or "server_error", "error_description": self.error_detail}
        known = self.status in HTTPStatus._value2member_map_
        message = HTTPStatus(self.status).phrase if known else "Unknown Status"
        code = self.error_code or f"{self.status}01"
        return {"message": message, "error_code": code, "error_detail": self.error_detail}


class NotJson(Fault):
    """Status 200 with a body that is not JSON, as from a proxy or a sign-in page in between."""

    kind: Literal["not_json"] = "not_json"
    body: str = Field(_PAGE, max_length=1_000_000)
    content_type: str = Field("text/html; charset=utf-8", max_length=100, pattern=r"^[\x20-\x7e]+$")

    def answer(self, request: HttpRequest, operation: int, response: Answer | None) -> HttpResponse:
        return HttpResponse(self.body, content_type=self.content_type)


class RateLimitFault(Fault):
    """429 with the rate headers and any reset, independent of the real counts. It is not counted."""

    is_counted: ClassVar[bool] = False

    kind: Literal["rate_limited"] = "rate_limited"
    when: Literal["before"] = "before"
    reset: int = Field(60, ge=1, le=86400)
    limit: int = Field(720, ge=0)

    def answer(self, request: HttpRequest, operation: int, response: Answer | None) -> HttpResponse:
        error = ApiError(429, LIMITED, "the limit is reached: a fault that was asked for")
        headers = {"Limit": self.limit, "Remaining": 0, "Reset": self.reset}
        return JsonResponse(
            error.body(), status=429, headers={f"X-Rate-Limit-{name}": str(value) for name, value in headers.items()}
        )


class DropBefore(Fault):
    """The connection ends before the service has received the call."""

    is_counted: ClassVar[bool] = False

    kind: Literal["drop_before"] = "drop_before"
    when: Literal["before"] = "before"

    def answer(self, request: HttpRequest, operation: int, response: Answer | None) -> BrokenResponse:
        return BrokenResponse(request)


class DropAfter(Fault):
    """The work is done and the connection ends without an answer."""

    kind: Literal["drop_after"] = "drop_after"
    when: Literal["after"] = "after"

    def answer(self, request: HttpRequest, operation: int, response: Answer | None) -> BrokenResponse:
        return BrokenResponse(request)


class Cut(Fault):
    """The work is done; the headers of its answer arrive, and half of the body."""

    kind: Literal["cut"] = "cut"
    when: Literal["after"] = "after"

    def answer(self, request: HttpRequest, operation: int, response: Answer | None) -> Answer | None:
        return BrokenResponse(request, response) if isinstance(response, HttpResponse) else None


AnyFault = Latency | Status | NotJson | RateLimitFault | DropBefore | DropAfter | Cut
_KINDS: TypeAdapter[AnyFault] = TypeAdapter(Annotated[AnyFault, Field(discriminator="kind")])
#: For calls without a fault.
NO_FAULT = Fault()


def read_fault(values: dict[str, Any]) -> AnyFault:
    """Return a fault from its values, including `kind`. Raises pydantic.ValidationError."""
    return _KINDS.validate_python(values)
