"""Where the service posts its notifications. Answered before any work: no session, no person, no look at the body."""

import time
from typing import Any

import structlog
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt

from portal.webhooks import tokens
from portal.webhooks.address_cache import LONG_WAIT_SECONDS, WAIT_SECONDS, AddressNotLoaded, WebhookAddress, addresses
from portal.webhooks.message_queue import ReceivedMessage, queue
from portal.webhooks.signing import is_signed

log = structlog.get_logger(__name__)

MAX_BODY_BYTES = 256 * 1024
_MAX_ID_LENGTH = 200
_LOG_INTERVAL = 10.0  # seconds between two lines of the log about notifications that were refused


class BodyTooLong(Exception):
    """The body is longer than any notification."""


class BodyIncomplete(Exception):
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
        address, is_right = _find_address(request, body, digest)
    except BodyTooLong:
        return _answer(HttpResponse(status=413))
    except BodyIncomplete:
        return _answer(HttpResponse(status=401))
    except AddressNotLoaded:
        return _answer(HttpResponse(status=503))
    return _answer(HttpResponse(status=_accept(request, address, body, digest, is_right=is_right)))


def _find_address(request: HttpRequest, body: bytes, digest: bytes) -> tuple[WebhookAddress, bool]:
    """Return whose address it is, and whether the body was signed with a secret of it. Raises Unanswered."""
    address = addresses.find(digest, WAIT_SECONDS)
    if _has_valid_signature(request, address, body):
        return address, True
    address = addresses.find(digest, LONG_WAIT_SECONDS)
    return address, _has_valid_signature(request, address, body)


def _accept(request: HttpRequest, address: WebhookAddress, body: bytes, digest: bytes, *, is_right: bool) -> int:
    """Take a notification that was signed rightly; the status of the answer."""
    if address.tenant_id is None:
        return 404
    if not is_right:
        _refusals.count(tenant_id=address.tenant_id, hook=digest.hex()[:12])
        return 401
    delivery_id = request.headers.get(address.message_format.id_header, "")[:_MAX_ID_LENGTH]
    queue.put(ReceivedMessage(address.tenant_id, body, delivery_id, address.message_format))
    return 204


def _has_valid_signature(request: HttpRequest, address: WebhookAddress, body: bytes) -> bool:
    return is_signed(body, request.headers.get(address.message_format.signature_header, ""), address.secrets())


def _body(request: HttpRequest) -> bytes:
    """Read the body, never more than its bound. Raises TooLong, before reading where the length is told, or CutOff."""
    told, stream = request.META.get("CONTENT_LENGTH") or "", request.META["wsgi.input"]
    try:
        if request.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body: bytes = stream.read(MAX_BODY_BYTES + 1)
        else:
            length = int(told or 0)
            if length > MAX_BODY_BYTES:
                raise BodyTooLong
            body = stream.read(length)
            if len(body) < length:
                raise BodyIncomplete
    except (OSError, ValueError):
        raise BodyIncomplete from None
    if len(body) > MAX_BODY_BYTES:
        raise BodyTooLong
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
        if time.monotonic() - self._said_at > _LOG_INTERVAL:
            log.warning("hook_refused", refused=self._unsaid, **about)
            self._said_at, self._unsaid = time.monotonic(), 0


_refusals = _Refusals()
