"""The calls that are left of the hour, for pages."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from accessapi.operations import CallClass
from portal.base.ui import batching
from portal.domain.budget import ledger
from portal.domain.budget.gauges import GaugeReading
from portal.domain.budget.models import Gauge
from portal.domain.budget.priorities import Priority, reserved_above
from tenants.access import TenantRequest
from tenants.models import Connection


@dataclass(frozen=True)
class ClassQuota:
    """One call class: counts of calls, and when more become available. `reading` is the gauge that they are from."""

    reading: GaugeReading
    call_class: CallClass
    limit: int
    used: int
    refills_at: datetime | None
    blocked_until: datetime | None

    @property
    def remaining(self) -> int:
        return max(self.limit - self.used, 0)


@dataclass(frozen=True)
class Quota:
    general: ClassQuota
    device: ClassQuota


def quota_of(connection: Connection, gauges: Iterable[Gauge] | None = None) -> Quota:
    """Return both classes of the connection's current token, without a lock; from `gauges` if they are loaded."""
    readings = ledger.read_gauges(connection, gauges)
    return Quota(*(_class_quota(each, readings[each]) for each in (CallClass.GENERAL, CallClass.DEVICE)))


def _class_quota(call_class: CallClass, reading: GaugeReading) -> ClassQuota:
    blocked = reading.gauge.blocked_until
    return ClassQuota(
        reading=reading,
        call_class=call_class,
        limit=reading.limit,
        used=min(reading.used, reading.limit),
        refills_at=reading.refills_at(),
        blocked_until=blocked if reading.is_limited and blocked and blocked > reading.now else None,
    )


def next_call_at(connection: Connection, priority: Priority, call_class: CallClass = CallClass.GENERAL) -> datetime:
    """Return when a call of this priority is expected to be possible, to show to people."""
    reading = ledger.read_gauge(connection, call_class)
    return reading.now if reading.may_call(priority) else reading.may_call_at(priority)


def count_free_calls(connection: Connection, priority: Priority, call_class: CallClass) -> int:
    """Return how many calls of this priority can be made now; at least one if a probe call is possible."""
    reading = ledger.read_gauge(connection, call_class)
    if not reading.may_call(priority):
        return 0
    return max(reading.limit - reading.used - reserved_above(priority, reading.limit), 1)


def quota_of_page(request: TenantRequest) -> Quota | None:
    """Return the tenant's quota, loaded once per page; None without a working connection."""
    connection = connection_of(request)
    if connection is None or not connection.is_connected:
        return None
    quota: Quota | None = getattr(request, "budget_outlook", None)
    if quota is None:
        quota = quota_of(connection, batching.load_rows(request, "gauges"))
        setattr(request, "budget_outlook", quota)  # noqa: B010 - a name that the type of requests does not have
    return quota


def no_calls_until(request: TenantRequest, priority: Priority, call_class: CallClass) -> datetime | None:
    """Return until when the tenant has no call of this priority; None if it has one, or has no connection."""
    connection = connection_of(request)
    if connection is None or not connection.is_connected:
        return None
    reading = ledger.read_gauges(connection, batching.load_rows(request, "gauges"))[call_class]
    return None if reading.may_call(priority) else reading.may_call_at(priority)


def connection_of(request: TenantRequest) -> Connection | None:
    """Return the tenant's connection, if there is one."""
    return getattr(request.tenant, "connection", None)
