"""All tenants for platform staff: names and states of connections, no data of their people."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from tenants.models import Connection, SupportSession, Tenant, User
from tenants.scope import across_tenants

MAX_TENANTS = 200


@dataclass(frozen=True)
class TenantRow:
    """One tenant: its connection, and the reader's own open support session there."""

    tenant: Tenant
    connection: Connection | None
    session: SupportSession | None


def list_tenants(user: User, text: str = "") -> list[TenantRow]:
    """Return at most 200 tenants by name, lost connections first; `text` filters by name or address."""
    tenants = Tenant.objects.select_related("environment").order_by("name", "pk")
    if text:
        tenants = tenants.filter(Q(name__icontains=text) | Q(slug__icontains=text))
    with across_tenants("the board shows every tenant's connection to platform staff"):
        connections = {row.tenant_id: row for row in Connection.objects_across_tenants.defer("service_settings")}
        own = SupportSession.objects_across_tenants.filter(user=user, ended_at=None)
        sessions = {session.tenant_id: session for session in own if session.is_open}
    rows = [TenantRow(tenant, connections.get(tenant.pk), sessions.get(tenant.pk)) for tenant in tenants]
    broken = Connection.State.BROKEN
    rows.sort(key=lambda row: row.connection is None or row.connection.state != broken)
    return rows[:MAX_TENANTS]
