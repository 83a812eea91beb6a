"""Operations 1 and 2: the tenant and its webhook settings."""

from typing import Any

from .bodies import read_body
from .call import Call


def get_tenant(call: Call) -> dict[str, Any]:
    """Return the name, the holidays and the webhook settings of the token's tenant, with the secret token."""
    call.query()
    tenant = call.tenant
    return {
        "tenant_id": tenant.tenant_id,
        "tenant_name": tenant.name,
        "settings": {"holiday": tenant.holiday, "webhook": tenant.webhook},
    }


def update_webhook(call: Call) -> dict[str, Any]:
    """Save the settings and use them from the next log record on; an omitted secret token stays unchanged."""
    call.query()
    call.tenant.webhook = call.tenant.webhook | read_body(call)
    call.tenant.save(update_fields=["webhook"])
    return {}


HANDLERS = {"get_tenant": get_tenant, "update_webhook": update_webhook}
