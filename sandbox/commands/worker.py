"""gunicorn's worker, which answers invalid HTTP requests with the service's error body."""

import json
from http import HTTPStatus
from socket import socket
from typing import Any

from gunicorn import util
from gunicorn.http.errors import InvalidResponseHeader, InvalidResponseHeaderName, ParseException
from gunicorn.workers.gthread import ThreadWorker

from sandbox.errors import FAILED, INVALID, ApiError

_SERVER_ERRORS = (InvalidResponseHeader, InvalidResponseHeaderName)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker with threads in one process. An unreadable request gets an error body, never a page."""

    def handle_error(self, req: Any, client: socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that never reached the site, or whose answer could not be written."""
        if isinstance(exc, ParseException) and not isinstance(exc, _SERVER_ERRORS):
            fault = ApiError(400, INVALID, f"the request cannot be read: {type(exc).__name__}")
        else:
            self.log.exception("A request failed before or after the site answered it")
            fault = ApiError(500, FAILED, "the service failed")
        try:
            util.write_nonblock(client, _answer(fault))
        except OSError:
            self.log.debug("Nobody is there any more to be told of an error")


def _answer(fault: ApiError) -> bytes:
    body = json.dumps(fault.body()).encode()
    head = (
        f"HTTP/1.1 {fault.status} {HTTPStatus(fault.status).phrase}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
