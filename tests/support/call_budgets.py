"""A tenant's budget of calls: an hourly limit that changes, and calls that were already made."""

from accessapi.operations import CallClass
from portal.domain.budget import ledger
from portal.domain.budget.models import CallCount, Gauge
from portal.domain.budget.priorities import STEP_SECONDS, Priority
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support.sandbox import Sandbox


def an_hour_of(general: int, sandbox: Sandbox, connection: Connection) -> None:
    """Set this tenant's hourly limit of general calls at the service, and record that the portal has seen it."""
    sandbox.settings(connection.service_tenant_id, general_limit=general)
    with tenant_scope(connection.tenant):
        ledger.read_gauge(connection, CallClass.GENERAL)
        Gauge.objects.filter(connection=connection, call_class=CallClass.GENERAL).update(limit_seen=general)


def spend(connection: Connection, who: Priority, calls: int, *, over: float = 0) -> None:
    """Record so many general calls for this priority: a moment ago, or evenly `over` the last so many seconds."""
    reading = ledger.read_gauge(connection, CallClass.GENERAL)
    steps = max(int(over) // STEP_SECONDS, 1)
    for number in range(steps):
        made = calls * (number + 1) // steps - calls * number // steps
        key = {"gauge": reading.gauge, "step": reading.step - number, "priority": int(who)}
        if made:
            CallCount.objects.update_or_create(**key, defaults={"calls": made, "counted": made})
