"""Alerts about the service: the connection is lost, or the hour's API calls are nearly used up."""

import time
from collections.abc import Iterator, Mapping

from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy

from accessapi.operations import CallClass
from portal.base.timers.clock import database_now
from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues, tenants_having
from portal.domain.alerts.models import Severity
from portal.domain.budget import ledger
from portal.domain.budget.models import Gauge, Spent
from portal.domain.budget.priorities import MARGIN_SECONDS, STEP_SECONDS
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, ServiceEnvironment, Tenant


def _find_lost_connection(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    connection = current_connection()
    if connection.state == Connection.State.BROKEN:
        yield Observation("connection", connection.state_at)


def _find_low_budget(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    connection = current_connection()
    if not connection.is_connected:
        return
    for each in (CallClass.GENERAL, CallClass.DEVICE):
        reading = ledger.read_gauge(connection, each)
        left = max(reading.limit - reading.used, 0)
        if left * 100 < values["percent"] * reading.limit:
            yield Observation(f"budget:{each}", database_now(), {"left": left, "limit": reading.limit})


def _tenants_with_low_budget(values: Mapping[int, RuleValues]) -> Iterator[int]:
    """Yield the tenants that may have few calls left. This counts calls generously, also expired ones."""
    limits = {each.pk: each.catalogue.limits for each in ServiceEnvironment.objects.all()}
    longest = max((each.window_seconds for each in limits.values()), default=0)
    early = (int(time.time()) - longest - 2 * MARGIN_SECONDS - 60) // STEP_SECONDS
    spent = Spent.reachable_objects.filter(gauge=OuterRef("pk"), step__gte=early).order_by().values("gauge")
    gauges = Gauge.reachable_objects.filter(
        tenant_id__in=values,
        generation=F("connection__token_generation"),
        connection__state=Connection.State.CONNECTED,
    ).annotate(
        calls=Coalesce(Subquery(spent.annotate(n=Sum("counted")).values("n")), 0),
        environment=F("tenant__environment"),
    )
    for gauge in gauges:
        kept = limits[gauge.environment]
        limit = gauge.limit_seen or (kept.general if gauge.call_class == CallClass.GENERAL else kept.device)
        if (limit - gauge.calls - gauge.others) * 100 < values[gauge.tenant_id]["percent"] * limit:
            yield gauge.tenant_id


SERVICE_ALERTS = (
    AlertKind(
        name="connection",
        message=gettext_lazy("The connection to the service was lost."),
        severity=Severity.ALARM,
        find_current=_find_lost_connection,
        tenants_to_check=tenants_having(
            lambda _rules: Connection.reachable_objects.filter(state=Connection.State.BROKEN)
        ),
    ),
    AlertKind(
        name="budget",
        message=gettext_lazy("%(left)s of %(limit)s API calls were left in the hour."),
        severity=Severity.NOTE,
        settings=(
            RuleSetting("percent", gettext_lazy("Less than (percent)"), 10, 1, 90, is_stricter_when_larger=True),
        ),
        find_current=_find_low_budget,
        tenants_to_check=_tenants_with_low_budget,
    ),
)
