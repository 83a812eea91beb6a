"""What a tenant's service says of its cameras."""

from typing import Any

from portal.core.timers.clock import database_now
from tenants.models import Tenant


def used(tenant: Tenant, **seconds: float) -> dict[str, Any]:
    """So many seconds of the period, as a reading of now has them in the service's unit."""
    unit = tenant.environment.catalogue.media.usage_seconds
    return {name: value / unit for name, value in seconds.items()} | {"read_at": database_now()}
