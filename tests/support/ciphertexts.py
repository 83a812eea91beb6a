"""The ciphertexts of a tenant's connection and webhook."""

from portal.webhooks.models import Webhook
from portal.webhooks.settings import webhook_of
from tenants.models import Connection, Tenant, TenantModel
from tenants.scope import tenant_scope
from tenants.vault import VaultError

#: Every field that a secret of the connection or of its webhook rests in.
FIELDS: dict[str, type[TenantModel]] = {
    "access_token": Connection,
    "previous_token": Connection,
    "licence_key": Connection,
    "token": Webhook,
    "secret": Webhook,
    "former_secret": Webhook,
}


def furnish(tenant: Tenant) -> None:
    """A secret in every field. A call that works lets the former token go: it stays where none is made."""
    with tenant_scope(tenant):
        row = Connection.objects.get()
        row.previous_token = "a former token"
        row.save()
        webhook = webhook_of(tenant)
        webhook.former_secret = "a former secret"
        webhook.save()


def opens(tenant: Tenant, field: str) -> bool:
    """Whether a read of this field gives anything at all."""
    with tenant_scope(tenant):
        row = FIELDS[field].objects.get()
        try:
            return getattr(row, field) is not None
        except VaultError:
            return False
