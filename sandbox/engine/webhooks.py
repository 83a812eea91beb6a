"""Notifications of new records: written with the record, posted soon after (specification: Events).

The request is published, not specified: POST, JSON, its own identifier, and the hexadecimal HMAC-SHA256 of the body if
the tenant has a secret. The overrides file sets the place of the record in the body, and the names of its fields. The
values of `event`, `event_name` and `additional_info` are assumed.
"""

import hashlib
import hmac
import json
import uuid
from datetime import datetime

from sandbox import clock, state_words
from sandbox.catalogue import CATALOGUE
from sandbox.service.models import Delivery, History, Tenant


def queue(tenant: Tenant, history: History, due_at: datetime) -> Delivery | None:
    """Queue a notification to be posted from `due_at` on, and return it; None if the webhook does not want it."""
    if not is_wanted(tenant, history.category):
        return None
    body = json.dumps(CATALOGUE.webhook.build_body(_body(history)), ensure_ascii=False)
    secret = tenant.webhook.get("secret_token")
    return Delivery.objects.create(
        tenant=tenant,
        delivery_id=str(uuid.uuid4()),
        url=tenant.webhook["url"],
        body=body,
        signature=sign(body.encode(), secret) if secret else "",
        due_at=due_at,
    )


def is_wanted(tenant: Tenant, category: str) -> bool:
    """Return whether the webhook is valid, has an address and wants this category."""
    settings = tenant.webhook
    if settings.get("is_invalid", True) or not settings.get("url"):
        return False
    return state_words.record_category(category) in settings.get("trigger", {}).get("history", {}).get("category", [])


def sign(body: bytes, secret: str) -> str:
    """Return the signature of a raw body."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _body(history: History) -> dict[str, object]:
    device, member = history.device or {}, history.member or {}
    return {
        "history_id": history.history_id,
        "tenant_id": history.tenant_id,
        "datetime": clock.format_moment(history.at),
        "event": "history",
        "event_name": history.content,
        "status": state_words.record_status(history.status),
        "category": state_words.record_category(history.category),
        "device_id": device.get("id", ""),
        "device_name": device.get("name", ""),
        "device_module": device.get("module", ""),
        "additional_info": {"member": member, "units": device.get("units", [])},
    }
