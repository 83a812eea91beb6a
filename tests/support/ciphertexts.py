"""The ciphertexts of a tenant's connection and webhook."""

from portal.webhooks.models import Webhook
from portal.webhooks.service_settings import webhook_of
from tenants.models import Connection, Tenant, TenantModel
from tenants.scope import tenant_scope
from tenants.vault import VaultError

#: Every field that stores a secret of the connection or of its webhook.
FIELDS: dict[str, type[TenantModel]] = {
    "access_token": Connection,
    "previous_token": Connection,
    "licence_key": Connection,
    "token": Webhook,
    "secret": Webhook,
    "former_secret": Webhook,
}


def furnish(tenant: Tenant) -> None:
    """Put a secret in every field. The previous token stays only until the next successful call."""
    with tenant_scope(tenant):
        row = Connection.objects.get()
        row.previous_token = "a former token"
        row.save()
        webhook = webhook_of(tenant)
        webhook.former_secret = "a former secret"
        webhook.save()


def opens(tenant: Tenant, field: str) -> bool:
    """Check whether this field can be decrypted and is not empty."""
    with tenant_scope(tenant):
        row = FIELDS[field].objects.get()
        try:
            return getattr(row, field) is not None
        except VaultError:
            return False
