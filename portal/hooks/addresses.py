"""Whose address a notification came to, and with which secrets it may be signed, without asking the database each time.

What is known is used for FRESH seconds. After that one thread asks the database again, for all addresses at once, and
whoever asks waits PATIENCE for it: a database that is slow or away lets what was known go on, for OLDEST seconds.
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

from accessapi.notifications import Webhook as Shape
from portal.core.timers.clock import ClockTime
from portal.hooks.models import Webhook
from tenants.scope import across_tenants
from tenants.vault import VaultError

log = structlog.get_logger(__name__)

FRESH, OLDEST = 2.0, 600.0
PATIENCE = 0.1
# Before a notification is refused that was signed with none of the known secrets: there may be a newer one.
LONG_PATIENCE = 3.0
# Unknown addresses are remembered, too, and only so many of all: whoever tries many asks the database himself.
MOST = 5000


class Unanswered(Exception):
    """The database did not say whose address this is, and nothing is known from before."""


@dataclass(frozen=True)
class Address:
    """An address: whose it is (None: nobody's), its secrets and until when each is accepted (`time.monotonic`), and how
    the service shapes what it posts.
    """

    tenant_id: int | None
    keys: tuple[tuple[bytes, float], ...] = field(repr=False)
    shape: Shape
    asked_at: float

    def secrets(self) -> list[bytes]:
        """Return the secrets that a notification may be signed with now."""
        now = time.monotonic()
        return [key for key, until in self.keys if now < until]


class Addresses:
    """What one process knows of addresses."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Address] = OrderedDict()
        self._wanted: dict[bytes, float] = {}  # with when it was asked for first
        self._change = threading.Condition()
        self._asker: threading.Thread | None = None

    def find(self, digest: bytes, patience: float) -> Address:
        """Return what is known of an address, asked anew within `patience` seconds if it is old. Raises Unanswered."""
        with self._change:
            found = self._known.get(digest)
        age = time.monotonic() - found.asked_at if found is not None else OLDEST
        if found is None or age >= OLDEST:
            return self._ask_now(digest)
        return found if age < FRESH else self._ask_again(digest, found, patience)

    def _ask_now(self, digest: bytes) -> Address:
        try:
            found = read([digest])[digest]
        except DatabaseError as error:
            log.warning("hook_address_not_read", error=type(error).__name__)
            raise Unanswered from None
        with self._change:
            self._keep(digest, found)
        return found

    def _ask_again(self, digest: bytes, known: Address, patience: float) -> Address:
        """Wait a moment for news; the first who asks that long, those who come after him until then."""
        with self._change:
            until = self._wanted.setdefault(digest, time.monotonic()) + patience
            self._start()
            self._change.notify_all()
            self._change.wait_for(lambda: digest not in self._wanted, max(until - time.monotonic(), 0))
            return self._known.get(digest, known)

    def _start(self) -> None:
        if self._asker is None or not self._asker.is_alive():
            self._asker = threading.Thread(target=self._ask_on, name="hook addresses", daemon=True)
            self._asker.start()

    def _ask_on(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._wanted)
                digests = list(self._wanted)
            try:
                found = read(digests)
            except DatabaseError as error:
                log.warning("hook_addresses_not_read", error=type(error).__name__)
                connection.close()
                time.sleep(1)
                continue
            with self._change:
                for digest, address in found.items():
                    self._keep(digest, address)
                    self._wanted.pop(digest, None)
                self._change.notify_all()

    def _keep(self, digest: bytes, found: Address) -> None:
        self._known[digest] = found
        self._known.move_to_end(digest)
        while len(self._known) > MOST:
            self._known.popitem(last=False)


def read(digests: Collection[bytes]) -> dict[bytes, Address]:
    """Ask the database about these addresses, all in one statement."""
    asked_at = time.monotonic()
    with across_tenants("a notification names its tenant by its address alone"):
        rows = Webhook.objects_across_tenants.filter(Q(token_digest__in=digests) | Q(former_digest__in=digests))
        found = dict.fromkeys(digests, _nobody(asked_at))
        for row in rows.select_related("tenant__environment").annotate(now=ClockTime()):
            address = _address(row, row.now, asked_at)
            former = row.former_digest if _until(row, row.now, asked_at) > asked_at else None
            for digest in (row.token_digest, former):
                if digest is not None and bytes(digest) in found:
                    found[bytes(digest)] = address
    return found


def _nobody(asked_at: float) -> Address:
    """What an unknown address is taken for: its notifications are read and compared as everybody's are."""
    keys = ((secrets.token_bytes(32), float("inf")),)
    return Address(None, keys, Shape(), asked_at)


def _address(row: Webhook, now: datetime, asked_at: float) -> Address:
    keys = []
    for name, until in (("secret", float("inf")), ("former_secret", _until(row, now, asked_at))):
        try:
            secret = getattr(row, name)
        except VaultError as error:
            log.error("hook_secret_not_opened", tenant_id=row.tenant_id, error=str(error))
            continue
        if secret:
            keys.append((secret.encode(), until))
    return Address(row.tenant_id, tuple(keys), row.tenant.environment.catalogue.webhook, asked_at)


def _until(row: Webhook, now: datetime, asked_at: float) -> float:
    """Until when the former secret and address are accepted, by this process's clock; no end is known: for ever."""
    return asked_at + (row.former_until - now).total_seconds() if row.former_until is not None else float("inf")


addresses = Addresses()
