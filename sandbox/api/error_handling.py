"""Turn every unhandled error into the service's error body: programs never get a page."""

import logging
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from django.core.exceptions import BadRequest, DisallowedHost, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from gunicorn.http.errors import ParseException

from sandbox.errors import FAILED, INVALID, NOT_FOUND, ApiError

#: Bytes of an unread body that are still read, and the size of one read.
_DRAIN, _CHUNK = 64 << 20, 1 << 16

log = logging.getLogger(__name__)


class ErrorMiddleware:
    """Middleware that answers unhandled errors of views with the service's error body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # At every address, not only where links are built: a foreign host name must not reach the console.
        try:
            request.get_host()
            response = self.get_response(request)
        except DisallowedHost:
            response = ApiError(400, INVALID, "Host is not one of SANDBOX_HOSTS").as_response()
        _drain(request)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        """Return the answer to an exception of a view: an ApiError's own; any other exception is logged."""
        if isinstance(error, ApiError):
            return error.as_response()
        if isinstance(error, (SuspiciousOperation, BadRequest, MultiPartParserError)):
            return bad_request(request, error)
        log.exception("%s %s failed", request.method, request.path)
        return server_error(request)


def _drain(request: HttpRequest) -> None:
    """Read the rest of the body. Otherwise the client would lose the answer and the connection."""
    stream, left = request.META["wsgi.input"], _DRAIN
    # An incomplete body, or one with malformed chunks, has nothing more to read.
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
