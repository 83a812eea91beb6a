"""Alerts about the line to the service: the connection is lost, the API calls of the hour are nearly used up."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from accessapi.operations import CallClass
from portal.core.alerts.kinds import AlertKind, Seen, Value, Values
from portal.core.alerts.kinds import register as add
from portal.core.alerts.models import Severity
from portal.core.budget import ledger
from portal.core.timers.clock import database_now
from tenants.connections.service import current_connection
from tenants.models import Connection, Tenant


def _lost(tenant: Tenant, values: Values) -> Iterator[Seen]:
    connection = current_connection()
    if connection.state == Connection.State.BROKEN:
        yield Seen("connection", connection.state_at)


def _nearly_gone(tenant: Tenant, values: Values) -> Iterator[Seen]:
    connection = current_connection()
    if not connection.is_connected:
        return
    for each in (CallClass.GENERAL, CallClass.DEVICE):
        reading = ledger.read(connection, each)
        left = max(reading.limit - reading.used, 0)
        if left * 100 < values["percent"] * reading.limit:
            yield Seen(f"budget:{each}", database_now(), {"left": left, "limit": reading.limit})


def register() -> None:
    add(
        AlertKind(
            name="connection",
            said=_("The connection to the service was lost."),
            severity=Severity.ALARM,
            look=_lost,
        )
    )
    add(
        AlertKind(
            name="budget",
            said=_("%(left)s of %(limit)s API calls were left in the hour."),
            severity=Severity.NOTE,
            values=(Value("percent", _("Less than (percent)"), 10, 1, 90, larger_alerts_more=True),),
            look=_nearly_gone,
        )
    )
