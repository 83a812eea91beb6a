"""Counting calls: a sliding hour per token and call class, exact under concurrency, corrected by the service's headers.

Limits: specification, part Limits (720 general and 180 device calls in 60 minutes for each access token).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection as database
from django.db import transaction
from django.db.models import DateTimeField, F, Func, OuterRef, QuerySet, Sum
from django.db.models.functions import JSONArray

from accessapi.errors import NotSent
from accessapi.operations import CallClass, Operation
from portal.budget.models import Gauge, Spent
from portal.budget.priorities import MARGIN_SECONDS, STEP_SECONDS, Priority, may_spend
from tenants.models import Connection


class BudgetExhausted(NotSent):
    """No call may be made now; nothing was sent. `retry_at` is when one is expected to be free again."""

    def __init__(self, retry_at: datetime, call_class: CallClass):
        super().__init__(f"The hour's {call_class} calls are used up until {retry_at:%H:%M:%S}.")
        self.retry_at = retry_at
        self.call_class = call_class


@dataclass(frozen=True)
class Reading:
    """A gauge as it stood at one moment, its row locked."""

    gauge: Gauge
    now: datetime
    limit: int
    window: int
    by_step: tuple[tuple[int, int, int], ...]  # (step, priority, calls), oldest first

    @property
    def used(self) -> int:
        return sum(calls for _, _, calls in self.by_step)

    def used_by(self, priority: Priority) -> int:
        return sum(calls for _, who, calls in self.by_step if who == priority)

    @property
    def step(self) -> int:
        return int(self.now.timestamp()) // STEP_SECONDS

    def leaves_at(self, step: int) -> datetime:
        """When calls of this step stop counting."""
        return datetime.fromtimestamp((step + 1) * STEP_SECONDS + self.window + MARGIN_SECONDS, UTC)

    def allows(self, priority: Priority) -> bool:
        blocked = self.gauge.blocked_until is not None and self.gauge.blocked_until > self.now
        return not blocked and may_spend(
            priority, limit=self.limit, used=self.used, used_by_sync=self.used_by(Priority.SYNC)
        )

    def allows_at(self, priority: Priority) -> datetime:
        """The first moment at which a call of this priority is expected to fit."""
        blocked_until = self.gauge.blocked_until or self.now
        used, by_sync = self.used, self.used_by(Priority.SYNC)
        for step, who, calls in self.by_step:
            if may_spend(priority, limit=self.limit, used=used, used_by_sync=by_sync):
                break
            used -= calls
            by_sync -= calls if who == Priority.SYNC else 0
            blocked_until = max(blocked_until, self.leaves_at(step))
        return max(blocked_until, self.now + timedelta(seconds=1))


def take(connection: Connection, operation: Operation, priority: Priority) -> None:
    """Count one call before it is made, in a transaction of its own. Raises BudgetExhausted: nothing may be sent."""
    with transaction.atomic(durable=True):
        take_within(connection, operation, priority)


def take_within(connection: Connection, operation: Operation, priority: Priority) -> None:
    """The same inside the caller's short transaction, for a claim that must stand or fall with its call."""
    if operation.call_class == CallClass.OAUTH:
        return
    reading = read(connection, operation.call_class, lock=True)
    if not reading.allows(priority):
        raise BudgetExhausted(reading.allows_at(priority), operation.call_class)
    _spend(reading, priority, 1)


def observe(connection: Connection, operation: Operation, *, limit: int | None, remaining: int | None,
            reset: int | None, refused: bool) -> None:  # fmt: skip
    """Correct the count downwards by what the service said. Absurd values never raise it or stop us for long."""
    if operation.call_class == CallClass.OAUTH:
        return
    with transaction.atomic():
        reading = read(connection, operation.call_class, lock=True)
        gauge = reading.gauge
        if limit is not None and 0 < limit < reading.limit:
            gauge.limit_seen, gauge.limit_seen_at = limit, reading.now
        if refused:
            wait = min(max(reset or 60, 1), reading.window)
            gauge.blocked_until = reading.now + timedelta(seconds=wait)
        gauge.save(update_fields=["limit_seen", "limit_seen_at", "blocked_until"])
        left = reading.limit - reading.used
        if remaining is not None and 0 <= remaining < left:
            _spend(reading, Priority.OTHERS, left - remaining)


def read(connection: Connection, call_class: CallClass, *, lock: bool = False) -> Reading:
    """The gauge of the connection's current token; `lock` holds its row until the transaction ends."""
    key = {"connection": connection, "generation": connection.token_generation, "call_class": str(call_class)}
    rows = Gauge.objects.select_for_update() if lock else Gauge.objects.all()
    gauge = rows.filter(**key).first()
    if gauge is None:
        Gauge.objects.get_or_create(**key, defaults={"tenant_id": connection.tenant_id})
        gauge = rows.get(**key)
    now = _database_now()
    steps = Spent.objects.filter(gauge=gauge, step__gte=_oldest(connection, now)).order_by("step")
    return _reading(connection, call_class, gauge, now, tuple(steps.values_list("step", "priority", "calls")))


def gauges(connection_id: int, generation: int, early: int) -> QuerySet[Gauge]:
    """Every class of a token, with the database's time and the calls of the steps from `early` on."""
    steps = Spent.objects.filter(gauge=OuterRef("pk"), step__gte=early).order_by("step")
    return Gauge.objects.filter(connection=connection_id, generation=generation).annotate(
        now=Func(function="clock_timestamp", output_field=DateTimeField()),
        steps=ArraySubquery(steps.values_list(JSONArray("step", "priority", "calls"))),
    )


def early(connection: Connection) -> int:
    """A step before the first that counts: this machine's clock only narrows what is read, the database's decides."""
    return _oldest(connection, datetime.now(UTC) - timedelta(minutes=1))


def read_all(connection: Connection, rows: Iterable[Gauge] | None = None) -> dict[CallClass, Reading]:
    """Every class of the connection's current token for pages, which only look: of `gauges` found, or asked here."""
    if rows is None:
        rows = gauges(connection.pk, connection.token_generation, early(connection))
    found = {gauge.call_class: gauge for gauge in rows}
    readings = {}
    for each in (CallClass.GENERAL, CallClass.DEVICE):
        gauge = found.get(str(each)) or Gauge(connection=connection, call_class=str(each))
        now = getattr(gauge, "now", None) or datetime.now(UTC)
        oldest = _oldest(connection, now)
        counted = tuple(tuple(step) for step in getattr(gauge, "steps", ()) if step[0] >= oldest)
        readings[each] = _reading(connection, each, gauge, now, counted)
    return readings


def _oldest(connection: Connection, now: datetime) -> int:
    """The first step that still counts."""
    window = connection.tenant.environment.catalogue.limits.window_seconds
    return (int(now.timestamp()) - window - MARGIN_SECONDS) // STEP_SECONDS


def _reading(
    connection: Connection,
    call_class: CallClass,
    gauge: Gauge,
    now: datetime,
    by_step: tuple[tuple[int, int, int], ...],
) -> Reading:
    limits = connection.tenant.environment.catalogue.limits
    limit = limits.general if call_class == CallClass.GENERAL else limits.device
    if gauge.limit_seen is not None and gauge.limit_seen_at > now - timedelta(seconds=limits.window_seconds):
        limit = min(limit, gauge.limit_seen)
    return Reading(gauge, now, limit, limits.window_seconds, by_step)


def spent_since(connection: Connection, since: datetime) -> dict[Priority, int]:
    """Calls of both classes since a moment, by who spent them."""
    rows = Spent.objects.filter(gauge__connection=connection, step__gte=int(since.timestamp()) // STEP_SECONDS)
    return {Priority(who): n for who, n in rows.values_list("priority").annotate(Sum("calls"))}


def _spend(reading: Reading, priority: Priority, calls: int) -> None:
    key = {"gauge": reading.gauge, "step": reading.step, "priority": int(priority)}
    if not Spent.objects.filter(**key).update(calls=F("calls") + calls):
        Spent.objects.create(**key, calls=calls, tenant_id=reading.gauge.tenant_id)


def _database_now() -> datetime:
    with database.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]
