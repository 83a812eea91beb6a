"""Where the service posts its notifications. Answered before any work: no session, no person, no look at the body."""

import time
from typing import Any

import structlog
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt

from portal.hooks import tokens
from portal.hooks.addresses import LONG_PATIENCE, PATIENCE, Address, Unanswered, addresses
from portal.hooks.intake import Waiting, intake
from portal.hooks.signing import signed

log = structlog.get_logger(__name__)

MOST_BYTES = 256 * 1024
_MOST_ID = 200
_SAY_AGAIN = 10.0  # seconds between two lines of the log about notifications that were refused


class TooLong(Exception):
    """The body is longer than any notification."""


class CutOff(Exception):
    """The body ended before its end."""


@csrf_exempt
@login_not_required
def receive(request: HttpRequest, token: str) -> HttpResponse:
    """204 for what was signed rightly, 401 for the rest, 404 for an unknown address, 413 for more than MOST_BYTES."""
    if request.method != "POST":
        return _answer(HttpResponseNotAllowed(["POST"]))
    digest = tokens.digest(token)
    try:
        body = _body(request)
        address, is_right = _compared(request, body, digest)
    except TooLong:
        return _answer(HttpResponse(status=413))
    except CutOff:
        return _answer(HttpResponse(status=401))
    except Unanswered:
        return _answer(HttpResponse(status=503))
    return _answer(HttpResponse(status=_taken(request, address, body, digest, is_right=is_right)))


def _compared(request: HttpRequest, body: bytes, digest: bytes) -> tuple[Address, bool]:
    """Return whose address it is, and whether the body was signed with a secret of it. Raises Unanswered."""
    address = addresses.find(digest, PATIENCE)
    if _is_right(request, address, body):
        return address, True
    address = addresses.find(digest, LONG_PATIENCE)
    return address, _is_right(request, address, body)


def _taken(request: HttpRequest, address: Address, body: bytes, digest: bytes, *, is_right: bool) -> int:
    """Take a notification that was signed rightly; the status of the answer."""
    if address.tenant_id is None:
        return 404
    if not is_right:
        _refusals.count(tenant_id=address.tenant_id, hook=digest.hex()[:12])
        return 401
    delivery_id = request.headers.get(address.shape.id_header, "")[:_MOST_ID]
    intake.put(Waiting(address.tenant_id, body, delivery_id, address.shape))
    return 204


def _is_right(request: HttpRequest, address: Address, body: bytes) -> bool:
    return signed(body, request.headers.get(address.shape.signature_header, ""), address.secrets())


def _body(request: HttpRequest) -> bytes:
    """Read the body, never more than its bound. Raises TooLong, before reading where the length is told, or CutOff."""
    told, stream = request.META.get("CONTENT_LENGTH") or "", request.META["wsgi.input"]
    try:
        if request.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body: bytes = stream.read(MOST_BYTES + 1)
        else:
            length = int(told or 0)
            if length > MOST_BYTES:
                raise TooLong
            body = stream.read(length)
            if len(body) < length:
                raise CutOff
    except (OSError, ValueError):
        raise CutOff from None
    if len(body) > MOST_BYTES:
        raise TooLong
    return body


def _answer(response: HttpResponse) -> HttpResponse:
    # Django would write the address, and with it the secret, into the log of what was refused.
    vars(response)["_has_been_logged"] = True
    return response


class _Refusals:
    """Says now and then that notifications were refused, and how many: whoever floods fills no log."""

    def __init__(self) -> None:
        self._said_at, self._unsaid = 0.0, 0

    def count(self, **about: Any) -> None:
        self._unsaid += 1
        if time.monotonic() - self._said_at > _SAY_AGAIN:
            log.warning("hook_refused", refused=self._unsaid, **about)
            self._said_at, self._unsaid = time.monotonic(), 0


_refusals = _Refusals()
