"""Post notifications: in order for each tenant, each posted once, with any answer of the receiver (assumed).

A notification counts as sent after the attempt. If a process dies before that, PostgreSQL unlocks the row, and the next
process posts it.
"""

import ipaddress
import ssl
import time
from datetime import datetime
from functools import cache

import httpx2
from django.conf import settings
from django.db import transaction
from django.db.models import Min

from sandbox import behaviour, clock
from sandbox.catalogue import CATALOGUE
from sandbox.engine import reset_lock
from sandbox.service.models import Delivery

#: Seconds that a receiver may take for each step of an answer.
TIMEOUT = 3.0
_USER_AGENT = "Splats-Webhook"  # published


def find_due() -> list[tuple[str, datetime]]:
    """Return the tenants with something to post and its first due time; the earliest first."""
    unsent = Delivery.objects.filter(sent_at=None).values("tenant_id").annotate(first=Min("due_at"))
    return list(unsent.order_by("first").values_list("tenant_id", "first"))


def post_due(tenant_id: str, *, timeout: float, limit: int = 50) -> bool:
    """Post due notifications by this tenant's clock, at most `limit`, unless another process does it.

    Return False if it stopped because one took longer than `timeout` seconds.
    """
    with httpx2.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=False, verify=_tls()) as client:
        for _ in range(limit):
            begun = time.monotonic()
            with behaviour.using_clock_of(tenant_id):
                if not _post_next(client, tenant_id, clock.now()):
                    return True
            if time.monotonic() - begun > timeout:
                return False
    return True


@cache
def _tls() -> ssl.SSLContext:
    # Reading this machine's trusted certificates takes longer than a post.
    return httpx2.create_ssl_context(trust_env=False)


def _post_next(client: httpx2.Client, tenant_id: str, now: datetime) -> bool:
    """Post the first notification. Return False if none is due or another process has it: none may overtake it."""
    with transaction.atomic():
        unsent = Delivery.objects.filter(tenant_id=tenant_id, sent_at=None)
        first = unsent.filter(due_at__lte=now).order_by("due_at", "id").values_list("pk", flat=True).first()
        if first is None or not reset_lock.acquire_shared():
            return False
        delivery = unsent.filter(pk=first).select_for_update(skip_locked=True, no_key=True).first()
        if delivery is None:
            return False
        delivery.status, delivery.error = _post(client, delivery)
        delivery.sent_at = clock.now()
        delivery.save(update_fields=["status", "error", "sent_at"])
    return True


def _post(client: httpx2.Client, delivery: Delivery) -> tuple[int | None, str]:
    """Return (status of the answer, error text)."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": _USER_AGENT,
        CATALOGUE.webhook.id_header: delivery.delivery_id,
    }
    if delivery.signature:
        headers[CATALOGUE.webhook.signature_header] = delivery.signature
    try:
        url = httpx2.URL(delivery.url)
        if not may_reach(url):
            return None, "not sent: only the loopback and the hosts of SANDBOX_WEBHOOK_HOSTS are written to"
        # The body of the answer is not read, however long it is.
        with client.stream("POST", url, content=delivery.body.encode(), headers=headers) as response:
            return response.status_code, ""
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return None, f"{type(error).__name__}: {error}"[:300]


def may_reach(url: httpx2.URL) -> bool:
    """Return whether this address is allowed: on this machine, or on a host in SANDBOX_WEBHOOK_HOSTS."""
    if url.scheme not in ("http", "https"):
        return False
    if url.host in {"localhost", *settings.WEBHOOK_HOSTS}:
        return True
    try:
        return ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return False
