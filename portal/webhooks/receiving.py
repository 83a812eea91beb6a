"""Receive the service's notifications. The answer is sent first, without session, sign-in or parsing.

Which tenant an address belongs to, and which secrets are valid, is cached to avoid a query per notification. Entries
are fresh for FRESH_SECONDS. After that, one thread reloads all addresses at once, and callers wait at most WAIT_SECONDS
for it. If the database is slow or down, old entries are used for a limited time.

A signature is the HMAC-SHA256 of the raw body. The format of signatures is not published. Hexadecimal and base64 (both
alphabets) are accepted, with or without a name like `sha256=` or `v1:`, also in quotes, single or in a list
(`t=1700000000,v1=…`, `v1,…`). One valid signature of a list is enough: a service with two valid secrets signs with
both. A repeated header counts as such a list.
"""

import base64
import hmac
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt

from accessapi.webhook_format import WebhookFormat
from portal.base.timers.clock import ClockTime
from portal.webhooks.message_queue import ReceivedMessage, queue
from portal.webhooks.models import Webhook, digest_token
from tenants.scope import across_tenants
from tenants.vault import VaultError

log = structlog.get_logger(__name__)


FRESH_SECONDS, MAX_AGE_SECONDS = 2.0, 600.0
WAIT_SECONDS = 0.1
# The wait before refusing a notification whose signature matches no known secret: there may be a newer one.
LONG_WAIT_SECONDS = 3.0
# Unknown addresses are cached, too, but the cache is limited: a flood of them causes only more queries.
MAX_ADDRESSES = 5000


class AddressNotLoaded(Exception):
    """Raised when the database did not answer and the address is not in the cache."""


@dataclass(frozen=True)
class WebhookAddress:
    """An address: its tenant (None if unknown), its secrets with their end (`time.monotonic`), and the format."""

    tenant_id: int | None
    keys: tuple[tuple[bytes, float], ...] = field(repr=False)
    message_format: WebhookFormat
    loaded_at: float

    def secrets(self) -> list[bytes]:
        """Return the secrets that are valid now."""
        now = time.monotonic()
        return [key for key, until in self.keys if now < until]


class AddressCache:
    """The cache of addresses in one process."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, WebhookAddress] = OrderedDict()
        self._requested: dict[bytes, float] = {}  # with the time of the first request
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None

    def find(self, digest: bytes, wait_seconds: float) -> WebhookAddress:
        """Return an address. If the entry is old, wait up to `wait_seconds` for a reload. Raises AddressNotLoaded."""
        with self._change:
            found = self._known.get(digest)
        age = time.monotonic() - found.loaded_at if found is not None else MAX_AGE_SECONDS
        if found is None or age >= MAX_AGE_SECONDS:
            return self._load_now(digest)
        return found if age < FRESH_SECONDS else self._wait_for_reload(digest, found, wait_seconds)

    def _load_now(self, digest: bytes) -> WebhookAddress:
        try:
            found = load_addresses([digest])[digest]
        except DatabaseError as error:
            log.warning("hook_address_not_read", error=type(error).__name__)
            raise AddressNotLoaded from None
        with self._change:
            self._store(digest, found)
        return found

    def _wait_for_reload(self, digest: bytes, known: WebhookAddress, patience: float) -> WebhookAddress:
        """Wait for a reload. The first caller waits the full time; later callers wait until the same end."""
        with self._change:
            until = self._requested.setdefault(digest, time.monotonic()) + patience
            self._start_thread()
            self._change.notify_all()
            self._change.wait_for(lambda: digest not in self._requested, max(until - time.monotonic(), 0))
            return self._known.get(digest, known)

    def _start_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._reload_forever, name="hook addresses", daemon=True)
            self._thread.start()

    def _reload_forever(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._requested)
                digests = list(self._requested)
            try:
                found = load_addresses(digests)
            except DatabaseError as error:
                log.warning("hook_addresses_not_read", error=type(error).__name__)
                connection.close()
                time.sleep(1)
                continue
            with self._change:
                for digest, address in found.items():
                    self._store(digest, address)
                    self._requested.pop(digest, None)
                self._change.notify_all()

    def _store(self, digest: bytes, found: WebhookAddress) -> None:
        self._known[digest] = found
        self._known.move_to_end(digest)
        while len(self._known) > MAX_ADDRESSES:
            self._known.popitem(last=False)


def load_addresses(digests: Collection[bytes]) -> dict[bytes, WebhookAddress]:
    """Load these addresses from the database, in one statement."""
    log_read_at = time.monotonic()
    with across_tenants("a notification names its tenant by its address alone"):
        rows = Webhook.objects_across_tenants.filter(Q(token_digest__in=digests) | Q(former_digest__in=digests))
        found = dict.fromkeys(digests, _unknown_address(log_read_at))
        for row in rows.select_related("tenant__environment").annotate(now=ClockTime()):
            address = _build_address(row, row.now, log_read_at)
            former = row.former_digest if _former_accepted_until(row, row.now, log_read_at) > log_read_at else None
            for digest in (row.token_digest, former):
                if digest is not None and bytes(digest) in found:
                    found[bytes(digest)] = address
    return found


def _unknown_address(log_read_at: float) -> WebhookAddress:
    """Return an entry for an unknown address. Its notifications are read and compared like all others."""
    keys = ((secrets.token_bytes(32), float("inf")),)
    return WebhookAddress(None, keys, WebhookFormat(), log_read_at)


def _build_address(row: Webhook, now: datetime, log_read_at: float) -> WebhookAddress:
    keys = []
    for name, until in (("secret", float("inf")), ("former_secret", _former_accepted_until(row, now, log_read_at))):
        try:
            secret = getattr(row, name)
        except VaultError as error:
            log.error("hook_secret_not_opened", tenant_id=row.tenant_id, error=str(error))
            continue
        if secret:
            keys.append((secret.encode(), until))
    return WebhookAddress(row.tenant_id, tuple(keys), row.tenant.environment.catalogue.webhook, log_read_at)


def _former_accepted_until(row: Webhook, now: datetime, log_read_at: float) -> float:
    """Return until when the former secret and address are valid, by this process's clock; infinity if not known."""
    return log_read_at + (row.former_until - now).total_seconds() if row.former_until is not None else float("inf")


addresses = AddressCache()


_HEX_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_BASE64_DIGEST = re.compile(r"[A-Za-z0-9+/_-]{43}=?")
_SIGNATURE_NAME = re.compile(r"(?:(?:hmac-?)?sha-?256|v[0-9]{1,2}|s|sig|signature|h?mac)[=:]", re.IGNORECASE)
_SIGNATURE_SEPARATOR = re.compile(r"""[,;\s"']+""")
_URL_SAFE_TO_USUAL = str.maketrans("-_", "+/")
# The most entries of a list that are checked: each needs a comparison.
MAX_SIGNATURES = 10


def is_signed(body: bytes, signature: str, keys: Iterable[bytes]) -> bool:
    """Check whether the body was signed with one of the keys. All are compared, in constant time."""
    digests = list(_digests(signature))
    right = False
    for key in keys:
        digest = hmac.digest(key, body, "sha256")
        for each in digests:
            right |= hmac.compare_digest(digest, each)
    return right


def _digests(signature: str) -> Iterator[bytes]:
    """Yield the digests in a header."""
    for entry in _SIGNATURE_SEPARATOR.split(signature.strip(), MAX_SIGNATURES)[:MAX_SIGNATURES]:
        text = _SIGNATURE_NAME.sub("", entry, 1) if _SIGNATURE_NAME.match(entry) else entry
        if _HEX_DIGEST.fullmatch(text):
            yield bytes.fromhex(text)
        elif _BASE64_DIGEST.fullmatch(text):
            yield base64.b64decode(text.rstrip("=").translate(_URL_SAFE_TO_USUAL) + "=")


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
    stated_length, stream = request.META.get("CONTENT_LENGTH") or "", request.META["wsgi.input"]
    try:
        if request.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body: bytes = stream.read(MAX_BODY_BYTES + 1)
        else:
            length = int(stated_length or 0)
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
