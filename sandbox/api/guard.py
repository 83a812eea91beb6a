"""The last word on errors: nothing that programs talk to ever answers with a page."""

import logging
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from django.core.exceptions import BadRequest, DisallowedHost, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from gunicorn.http.errors import ParseException

from sandbox.errors import FAILED, INVALID, NOT_FOUND, ApiError

#: How much of a body that nobody wants is still read, and in pieces of what size.
_DRAIN, _CHUNK = 64 << 20, 1 << 16

log = logging.getLogger(__name__)


class Guard:
    """Turns whatever a view failed to handle into the service's error body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Every address, not only those that build links: a name that merely points here must not reach the console.
        try:
            request.get_host()
            response = self.get_response(request)
        except DisallowedHost:
            response = ApiError(400, INVALID, "Host is not one of SANDBOX_HOSTS").as_response()
        _drain(request)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        """A view raised: a fault is answered as it says, anything else is ours and logged."""
        if isinstance(error, ApiError):
            return error.as_response()
        if isinstance(error, (SuspiciousOperation, BadRequest, MultiPartParserError)):
            return bad_request(request, error)
        log.exception("%s %s failed", request.method, request.path)
        return server_error(request)


def _drain(request: HttpRequest) -> None:
    """Reads what a refusal left of the body: unread, it would cost the client the answer and the connection."""
    stream, left = request.META["wsgi.input"], _DRAIN
    # A body that breaks off, or is wrongly cut into pieces, has nothing more to read.
    with suppress(OSError, ParseException):
        while left > 0 and (chunk := stream.read(_CHUNK)):
            left -= len(chunk)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return ApiError(400, INVALID, "the request is malformed").as_response()


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return ApiError(403, "40300", HTTPStatus.FORBIDDEN.phrase).as_response()


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return ApiError(404, NOT_FOUND, "no such operation").as_response()


def server_error(request: HttpRequest) -> HttpResponse:
    return ApiError(500, FAILED, "the service failed").as_response()
