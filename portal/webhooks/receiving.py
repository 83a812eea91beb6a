"""Receive the service's notifications. The answer is sent first, without session, sign-in or parsing."""

import time
from typing import Any

import structlog
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt

from portal.webhooks.address_cache import LONG_WAIT_SECONDS, WAIT_SECONDS, AddressNotLoaded, WebhookAddress, addresses
from portal.webhooks.message_queue import ReceivedMessage, queue
from portal.webhooks.signing import is_signed
from portal.webhooks.tokens import digest_token

log = structlog.get_logger(__name__)

MAX_BODY_BYTES = 256 * 1024
_MAX_ID_LENGTH = 200
_LOG_INTERVAL = 10.0  # seconds between two log lines about refused notifications


class BodyTooLong(Exception):
    """Raised when the body is longer than a notification may be."""


class BodyIncomplete(Exception):
    """Raised when the connection ended before the whole body arrived."""


@csrf_exempt
@login_not_required
def receive(request: HttpRequest, token: str) -> HttpResponse:
    """Return 204 for a valid signature, 401 for others, 404 for an unknown address, 413 for too long bodies."""
    if request.method != "POST":
        return _answer(HttpResponseNotAllowed(["POST"]))
    digest = digest_token(token)
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
    """Return the address, and whether the body has a valid signature. Raises AddressNotLoaded."""
    address = addresses.find(digest, WAIT_SECONDS)
    if _has_valid_signature(request, address, body):
        return address, True
    address = addresses.find(digest, LONG_WAIT_SECONDS)
    return address, _has_valid_signature(request, address, body)


def _accept(request: HttpRequest, address: WebhookAddress, body: bytes, digest: bytes, *, is_right: bool) -> int:
    """Accept a notification with a valid signature. Return the status of the answer."""
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
    """Read the body within its limit. Raises BodyTooLong (before reading, if the length is given) or BodyIncomplete."""
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
    # Django would otherwise log the address of a refused request, and with it the secret.
    vars(response)["_has_been_logged"] = True
    return response


class _Refusals:
    """Logs refused notifications with their number, but not each of them: a flood must not fill the log."""

    def __init__(self) -> None:
        self._said_at, self._unsaid = 0.0, 0

    def count(self, **about: Any) -> None:
        self._unsaid += 1
        if time.monotonic() - self._said_at > _LOG_INTERVAL:
            log.warning("hook_refused", refused=self._unsaid, **about)
            self._said_at, self._unsaid = time.monotonic(), 0


_refusals = _Refusals()
