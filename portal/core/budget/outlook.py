"""What is left of the hour, in the words of a page, and the thin meters in every page's footer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from accessapi.operations import CallClass
from portal.core.budget import ledger
from portal.core.budget.models import Gauge
from portal.core.budget.priorities import Priority, kept_from
from portal.core.budget.readings import Reading
from portal.core.ui import frame, together
from tenants.access import TenantRequest
from tenants.models import Connection


@dataclass(frozen=True)
class ClassOutlook:
    """One call class: counts of calls, and when more come free."""

    call_class: CallClass
    limit: int
    used: int
    refills_at: datetime | None
    blocked_until: datetime | None

    @property
    def left(self) -> int:
        return max(self.limit - self.used, 0)


@dataclass(frozen=True)
class Outlook:
    general: ClassOutlook
    device: ClassOutlook


def outlook(connection: Connection, gauges: Iterable[Gauge] | None = None) -> Outlook:
    """Both classes of the connection's current token, read without locking: of `gauges` when they were read already."""
    readings = ledger.read_all(connection, gauges)
    return Outlook(*(_of(each, readings[each]) for each in (CallClass.GENERAL, CallClass.DEVICE)))


def _of(call_class: CallClass, reading: Reading) -> ClassOutlook:
    blocked = reading.gauge.blocked_until
    return ClassOutlook(
        call_class=call_class,
        limit=reading.limit,
        used=min(reading.used, reading.limit),
        refills_at=reading.refills_at(),
        blocked_until=blocked if reading.limited and blocked and blocked > reading.now else None,
    )


def goes_on_at(connection: Connection, priority: Priority, call_class: CallClass = CallClass.GENERAL) -> datetime:
    """When a call of this priority is expected to be free: what to tell people, where a retry comes sooner."""
    reading = ledger.read(connection, call_class)
    return reading.now if reading.allows(priority) else reading.allows_at(priority)


def free_now(connection: Connection, priority: Priority, call_class: CallClass) -> int:
    """How many calls of this priority can be made now; one at least where one may be tried."""
    reading = ledger.read(connection, call_class)
    if not reading.allows(priority):
        return 0
    return max(reading.limit - reading.used - kept_from(priority, reading.limit), 1)


def minutes_for(calls: int, connection: Connection, priority: Priority) -> int:
    """About how many minutes `calls` general calls of this priority take, given what the hour has left."""
    reading = ledger.read(connection, CallClass.GENERAL)
    return _minutes(calls, reading.limit, reading.used, priority)


def minutes_within(seen: Outlook, calls: int, priority: Priority) -> int:
    """The same for a page that has looked at the hour already."""
    return _minutes(calls, seen.general.limit, seen.general.used, priority)


def _minutes(calls: int, limit: int, used: int, priority: Priority) -> int:
    kept = kept_from(priority, limit)
    free = max(limit - used - kept, 0)
    return 0 if calls <= free else -(-60 * (calls - free) // max(limit - kept, 1))


def known(request: TenantRequest) -> Outlook | None:
    """What is left of the hour for the tenant's token, read once a page; None without a working connection."""
    connection = _connection(request)
    if connection is None or not connection.is_connected:
        return None
    seen: Outlook | None = getattr(request, "budget_outlook", None)
    if seen is None:
        seen = outlook(connection, together.told(request, "gauges"))
        setattr(request, "budget_outlook", seen)  # noqa: B010 - a name that the type of requests does not have
    return seen


def pauses_until(request: TenantRequest, priority: Priority, call_class: CallClass) -> datetime | None:
    """Return until when the tenant has no call of this priority; None while it has one, or has no connection."""
    connection = _connection(request)
    if connection is None or not connection.is_connected:
        return None
    reading = ledger.read_all(connection, together.told(request, "gauges"))[call_class]
    return None if reading.allows(priority) else reading.allows_at(priority)


def _meters(request: TenantRequest) -> dict[str, object] | None:
    """The frame's fact of both classes."""
    seen = known(request)
    if seen is None:
        return None
    labelled = ((_("API calls left"), seen.general), (_("Device API calls left"), seen.device))
    return {
        "meters": [
            {"label": label, "left": one.left, "limit": one.limit, "refills_at": one.refills_at}
            for label, one in labelled
        ]
    }


def _connection(request: TenantRequest) -> Connection | None:
    return getattr(request.tenant, "connection", None)


def _number(of: Callable[[Connection], int]) -> Callable[[TenantRequest], int]:
    """A number of the tenant's connection; without one it finds nothing."""
    return lambda request: of(connection) if (connection := _connection(request)) is not None else -1


def register() -> None:
    together.ask(
        "gauges",
        ledger.gauges,
        connection_id=_number(lambda connection: connection.pk),
        generation=_number(lambda connection: connection.token_generation),
        early=_number(ledger.early),
    )
    frame.register("budget", _meters)
