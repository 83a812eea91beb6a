"""Webhooks of tenants, and notifications as the service signs and posts them."""

import hashlib
import hmac
import json
import secrets
import uuid
from datetime import timedelta
from typing import Any

from accessapi.limits import JST
from portal.base.timers.clock import database_now
from portal.webhooks.models import Webhook, digest_token
from tenants.models import Tenant
from tenants.scope import tenant_scope


class Hook:
    """A tenant's webhook, switched on, with the address and the secret that only the service knows."""

    def __init__(self, tenant: Tenant, **more: Any) -> None:
        self.tenant = tenant
        self.token, self.secret = secrets.token_urlsafe(32), secrets.token_hex(32)
        values = {"secret": self.secret, "is_on": True, "categories": all_categories(tenant)} | more
        with tenant_scope(tenant):
            row = Webhook(token=self.token, token_digest=digest_token(self.token), **values)
            row.set_at = row.set_at or database_now() - timedelta(hours=2)
            row.save()

    @property
    def path(self) -> str:
        return f"/hooks/{self.token}/"

    @property
    def row(self) -> Webhook:
        with tenant_scope(self.tenant):
            return Webhook.objects.select_related("tenant__environment").get()

    def change(self, **values: Any) -> None:
        """Change the webhook's settings as the settings page does."""
        row = self.row
        for name, value in values.items():
            setattr(row, name, value)
        with tenant_scope(self.tenant):
            row.save(update_fields=list(values))

    def headers(self, body: bytes, secret: str | None = None, **changed: str | None) -> dict[str, str]:
        """Return the headers of a notification. `changed` replaces headers by name; None leaves one out."""
        names = self.tenant.environment.catalogue.webhook
        told: dict[str, str | None] = {
            "Content-Type": "application/json",
            names.id_header: str(uuid.uuid4()),
            names.signature_header: sign(body, self.secret if secret is None else secret),
        }
        return {name: value for name, value in (told | changed).items() if value is not None}

    @property
    def signature_header(self) -> str:
        return self.tenant.environment.catalogue.webhook.signature_header


def all_categories(tenant: Tenant) -> list[str]:
    """Return every category that the tenant's service is known to have."""
    return list(tenant.environment.catalogue.records.categories)


def sign(body: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def notification(history_id: str = "", **more: Any) -> dict[str, Any]:
    """Return a notification as the service sends it."""
    at = more.pop("at", None) or database_now()
    return {
        "history_id": history_id or f"h-{secrets.token_hex(8)}",
        "datetime": at.astimezone(JST).replace(microsecond=0).isoformat(),
        "event": "history",
        "event_name": "Entered",
        "status": "occur",
        "category": "normal",
        "device_id": "D1",
        "device_name": "倉庫 入口",
        "device_module": "pass",
        "additional_info": {"member": {"id": "m1", "name": "山田 太郎", "data": "0123456789"}, "units": []},
    } | more


def as_bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
