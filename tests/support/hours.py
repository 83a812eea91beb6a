"""A service whose limit of calls an hour changes."""

from accessapi.operations import CallClass
from portal.domain.budget import ledger
from portal.domain.budget.models import Gauge
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support.sandbox import Sandbox


def an_hour_of(general: int, sandbox: Sandbox, connection: Connection) -> None:
    """Set this tenant's hourly limit of general calls at the service, and record that the portal has seen it."""
    sandbox.settings(connection.service_tenant_id, general_limit=general)
    with tenant_scope(connection.tenant):
        ledger.read_gauge(connection, CallClass.GENERAL)
        Gauge.objects.filter(connection=connection, call_class=CallClass.GENERAL).update(limit_seen=general)
