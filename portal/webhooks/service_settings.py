"""Compare the webhook settings that the portal wants with those of the service (operations 1 and 2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.value_words import join_values, service_word
from portal.domain.history.models import History
from portal.domain.places.models import TenantRecord
from portal.webhooks.models import Webhook, create_token, digest_token
from tenants import vault
from tenants.models import Tenant

_LATEST_RECORDS = 1000
_LOCAL = {"localhost", "127.0.0.1", "::1"}


def webhook_of(tenant: Tenant) -> Webhook:
    """Return the tenant's webhook. It is created on first use: switched off, with an address and a secret."""
    token = create_token()
    made = {"token": token, "token_digest": digest_token(token), "secret": create_token()}
    row, _is_new = Webhook.objects.get_or_create(tenant=tenant, defaults=made)
    if vault.is_unreadable(row):
        reset_credentials(row)
        row.save()
    return row


def reset_credentials(row: Webhook) -> None:
    """Reset a webhook whose secrets cannot be decrypted: new address and secret, switched off. The caller saves it."""
    row.is_on, row.token, row.secret = False, create_token(), create_token()
    row.token_digest = digest_token(row.token)
    row.former_digest = row.former_secret = row.former_until = None


def _base_url() -> str:
    """Return the beginning of all webhook addresses of this site."""
    return f"{settings.PORTAL_URL}/hooks/"


def address_of(row: Webhook) -> str:
    """Return the address to which the service posts."""
    return f"{_base_url()}{row.token}/"


def is_reachable() -> bool:
    """Check whether the service can reach the portal's address: HTTPS, and not this machine."""
    parts = urlsplit(settings.PORTAL_URL)
    return parts.scheme == "https" and parts.hostname not in _LOCAL


class AddressOwner(StrEnum):
    """The owner of the address that the service has set."""

    NOBODY = "nobody"
    OURS = "ours"
    OTHERS = "others"


@dataclass(frozen=True)
class SettingRow:
    """A setting with the portal's value and the service's value."""

    label: str
    portal_value: str
    service_value: str
    differs: bool


@dataclass(frozen=True)
class ServiceSettings:
    """The service's settings, read at `at`. Values of a wrong type are treated as missing."""

    at: datetime
    url: str
    is_on: bool | None
    categories: tuple[str, ...]
    has_secret: bool | None

    @classmethod
    def load(cls) -> "ServiceSettings | None":
        """Return the settings that were read last; None if there are none or VAULT_KEYS cannot decrypt them."""
        record = TenantRecord.objects.first()
        return None if record is None or vault.is_unreadable(record) else cls.of(record)

    @classmethod
    def of(cls, record: TenantRecord) -> "ServiceSettings":
        webhook = record.webhook if isinstance(record.webhook, dict) else {}
        invalid, url = webhook.get("is_invalid"), webhook.get("url")
        is_on = not invalid if isinstance(invalid, bool) else None
        url = url if isinstance(url, str) else ""
        return cls(record.read_at, url, is_on, categories_of(webhook), record.has_webhook_secret)

    def address_owner(self, row: Webhook) -> AddressOwner:
        """Return the address's owner. Ours starts with this site's address, or ends with one of our tokens."""
        if not self.url:
            return AddressOwner.NOBODY
        if self.url.startswith(_base_url()):
            return AddressOwner.OURS
        token = self.url.rstrip("/").rpartition("/")[2]
        own_digests = {bytes(each) for each in (row.token_digest, row.former_digest) if each is not None}
        return AddressOwner.OURS if digest_token(token) in own_digests else AddressOwner.OTHERS

    @property
    def host(self) -> str:
        """Return the visible part of the address. The rest may be a secret of another system."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return f"{self.url.partition('//')[0][:40]}//…"
        return f"{parts.scheme}://{parts.netloc}/…" if parts.netloc else self.url[:40]


def categories_of(webhook: dict[str, Any]) -> tuple[str, ...]:
    """Return the categories in a webhook's settings, in their order."""
    trigger = webhook.get("trigger")
    history = trigger.get("history") if isinstance(trigger, dict) else None
    found = history.get("category") if isinstance(history, dict) else None
    return tuple(each for each in (found if isinstance(found, list) else [found]) if isinstance(each, str))


def category_choices(tenant: Tenant, row: Webhook, present: ServiceSettings | None) -> list[str]:
    """Return the categories to choose from: those of the environment, then others that were seen or set."""
    recent = History.objects.order_by("-at", "-id").values_list("category", flat=True)[:_LATEST_RECORDS]
    known = tenant.environment.catalogue.records.categories
    stored = present.categories if present is not None else ()
    return list(dict.fromkeys([*known, *sorted({each for each in recent if each}), *row.categories, *stored]))


def compare(row: Webhook, present: ServiceSettings) -> list[SettingRow]:
    """Return each setting with both values."""
    owner = present.address_owner(row)
    is_ours = owner is AddressOwner.OURS and present.url == address_of(row)
    address = _("This portal") if is_ours else present.host
    return [
        SettingRow(
            _("Notifications"), on_off_text(row.is_on), on_off_text(present.is_on), row.is_on is not present.is_on
        ),
        SettingRow(_("Webhook address"), _("This portal"), address, not is_ours),
        SettingRow(
            _("Categories"),
            categories_text(row.categories),
            categories_text(present.categories),
            set(row.categories) != set(present.categories),
        ),
        SettingRow(
            _("Webhook secret"), _stored(bool(row.secret)), _stored(present.has_secret), present.has_secret is False
        ),
    ]


def on_off_text(is_on: bool | None) -> str:
    """Return whether notifications are on, as text; empty if unknown."""
    if is_on is None:
        return ""
    return pgettext("webhook", "On") if is_on else pgettext("webhook", "Off")


def _stored(is_there: bool | None) -> str:
    if is_there is None:
        return ""
    return _("Set") if is_there else _("Not set")


def categories_text(found: Iterable[str]) -> str:
    """Return category names as text. Unknown categories are shown unchanged."""
    return join_values(service_word("category", each) for each in found)
