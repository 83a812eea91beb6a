"""Cache which tenant a webhook address belongs to and which secrets are valid, to avoid a query per notification.

Entries are fresh for FRESH_SECONDS. After that, one thread reloads all addresses at once, and callers wait at most
WAIT_SECONDS for it. If the database is slow or down, old entries are used for a limited time.
"""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from django.db import DatabaseError, connection
from django.db.models import Q

from accessapi.webhook_format import WebhookFormat
from portal.base.timers.clock import ClockTime
from portal.webhooks.models import Webhook
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
    asked_at = time.monotonic()
    with across_tenants("a notification names its tenant by its address alone"):
        rows = Webhook.objects_across_tenants.filter(Q(token_digest__in=digests) | Q(former_digest__in=digests))
        found = dict.fromkeys(digests, _unknown_address(asked_at))
        for row in rows.select_related("tenant__environment").annotate(now=ClockTime()):
            address = _build_address(row, row.now, asked_at)
            former = row.former_digest if _former_accepted_until(row, row.now, asked_at) > asked_at else None
            for digest in (row.token_digest, former):
                if digest is not None and bytes(digest) in found:
                    found[bytes(digest)] = address
    return found


def _unknown_address(asked_at: float) -> WebhookAddress:
    """Return an entry for an unknown address. Its notifications are read and compared like all others."""
    keys = ((secrets.token_bytes(32), float("inf")),)
    return WebhookAddress(None, keys, WebhookFormat(), asked_at)


def _build_address(row: Webhook, now: datetime, asked_at: float) -> WebhookAddress:
    keys = []
    for name, until in (("secret", float("inf")), ("former_secret", _former_accepted_until(row, now, asked_at))):
        try:
            secret = getattr(row, name)
        except VaultError as error:
            log.error("hook_secret_not_opened", tenant_id=row.tenant_id, error=str(error))
            continue
        if secret:
            keys.append((secret.encode(), until))
    return WebhookAddress(row.tenant_id, tuple(keys), row.tenant.environment.catalogue.webhook, asked_at)


def _former_accepted_until(row: Webhook, now: datetime, asked_at: float) -> float:
    """Return until when the former secret and address are valid, by this process's clock; infinity if not known."""
    return asked_at + (row.former_until - now).total_seconds() if row.former_until is not None else float("inf")


addresses = AddressCache()
