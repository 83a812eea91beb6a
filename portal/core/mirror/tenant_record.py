"""What the service says of the tenant itself (operation 1): its name, its holidays, where it notifies."""

from typing import Any

from django.db import transaction

from accessapi.errors import ServiceError
from portal.core.budget.client import client as budgeted
from portal.core.budget.priorities import Priority
from portal.core.mirror import hooks
from portal.core.mirror.kinds import Kind
from portal.core.mirror.leases import Lease
from portal.core.mirror.models import TenantRecord
from portal.core.mirror.rows import unknown
from portal.core.mirror.small import interrupted
from portal.core.timers.clock import database_now
from tenants.models import Connection


def read(connection: Connection, lease: Lease) -> None:
    """Read the record and keep it, without what signs notifications."""
    started = database_now()
    try:
        data = budgeted(connection, Priority.SYNC).call("get_tenant").data
    except ServiceError as error:
        interrupted(lease, error)
        return
    with transaction.atomic():
        lease.hold()
        TenantRecord.objects.update_or_create(defaults={**_columns(data), "read_at": started})
        lease.done(as_of=started, total=1)
        hooks.tell(Kind.TENANT, connection.tenant)


def _columns(data: dict[str, Any]) -> dict[str, Any]:
    settings = _object(data.get("settings"))
    name = data.get("tenant_name")
    others = {name: value for name, value in settings.items() if name not in ("holiday", "webhook")}
    extra = unknown(data, {"tenant_id", "tenant_name", "settings"})
    if others:
        extra["settings"] = unknown(others, set())
    return {
        "tenant_name": name if isinstance(name, str) else "",
        "holiday": _object(settings.get("holiday")),
        "webhook": unknown(_object(settings.get("webhook")), {"secret_token"}),
        "extra": extra,
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
