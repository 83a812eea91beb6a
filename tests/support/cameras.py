"""Camera usage as a tenant's service reports it."""

from typing import Any

from portal.base.timers.clock import database_now
from tenants.models import Tenant


def used(tenant: Tenant, **seconds: float) -> dict[str, Any]:
    """Return a usage reading of now: so many seconds of the period, in the service's unit."""
    unit = tenant.environment.catalogue.media.usage_seconds
    return {name: value / unit for name, value in seconds.items()} | {"read_at": database_now()}
