"""A service that takes another number of calls an hour than it did."""

from accessapi.operations import CallClass
from portal.core.budget import ledger
from portal.core.budget.models import Gauge
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support.sandbox import Sandbox


def an_hour_of(general: int, sandbox: Sandbox, connection: Connection) -> None:
    """From now on the service takes so many general calls an hour of this tenant, and has just said so."""
    sandbox.settings(connection.service_tenant_id, general_limit=general)
    with tenant_scope(connection.tenant):
        ledger.read_gauge(connection, CallClass.GENERAL)
        Gauge.objects.filter(connection=connection, call_class=CallClass.GENERAL).update(limit_seen=general)
