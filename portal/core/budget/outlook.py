"""What is left of the hour, in the words of a page."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from accessapi.operations import CallClass
from portal.core.budget import ledger
from portal.core.budget.models import Gauge
from portal.core.budget.priorities import Priority, kept_from
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


def _of(call_class: CallClass, reading: ledger.Reading) -> ClassOutlook:
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
