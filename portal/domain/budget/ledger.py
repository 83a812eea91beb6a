"""Count calls: a sliding hour per token and call class, exact under concurrency, corrected by rate headers.

Limits: specification, part Limits (720 general and 180 device calls in 60 minutes for each access token).
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection as database
from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONArray

from accessapi.errors import NotSent
from accessapi.limits import CALL_WINDOW_SECONDS
from accessapi.operations import CallClass, Operation
from portal.base.timers.clock import ClockTime, scaled_pause
from portal.domain.budget.gauges import CallsByStep, CountedCall, GaugeReading, RateReport, apply_report
from portal.domain.budget.models import CallCount, Gauge
from portal.domain.budget.priorities import MARGIN_SECONDS, STEP_SECONDS, Priority
from tenants.models import Connection, ServiceEnvironment

# Callers that wait check again at least this often: a new token or a new answer may allow calls earlier.
_CHECK_AGAIN_AFTER = {Priority.DOORS: scaled_pause(5), Priority.PEOPLE: scaled_pause(15)}
_CHECK_AGAIN_AFTER_DEFAULT = scaled_pause(60)

# Calls are counted for every click and page, so this is plain SQL. The first statement locks the gauge's row, which
# makes the following ones exact.
_FIELDS = [field.attname for field in Gauge._meta.concrete_fields]
_LOCKED = f"""
SELECT {", ".join(_FIELDS)} FROM budget_gauge
WHERE tenant_id = %s AND connection_id = %s AND generation = %s AND call_class = %s FOR UPDATE
"""  # noqa: S608 - our own column names
_COUNTED = """
SELECT t.now, s.step, s.priority, s.counted FROM (SELECT clock_timestamp() AS now) t
LEFT JOIN budget_callcount s ON s.gauge_id = %s AND s.counted > 0
AND s.step >= (floor(extract(epoch FROM t.now))::int8 - %s) / %s
ORDER BY s.step
"""
_TAKE = """
WITH gauge AS (
    UPDATE budget_gauge SET taken = %s, tried_at = %s WHERE id = %s RETURNING id, tenant_id
)
INSERT INTO budget_callcount AS s (tenant_id, gauge_id, step, priority, calls, counted)
SELECT tenant_id, id, %s, %s, 1, 1 FROM gauge
ON CONFLICT (gauge_id, step, priority) DO UPDATE SET calls = s.calls + 1, counted = s.counted + 1
"""


class BudgetExhausted(NotSent):
    """No call may be made now; nothing was sent.

    `retry_at` is when a call is expected to be possible. `check_again_at` is when to check again, which is soon,
    because the expectation may improve.
    """

    def __init__(self, retry_at: datetime, call_class: CallClass, ask_at: datetime | None = None):
        super().__init__(f"The hour's {call_class} calls are used up until {retry_at:%H:%M:%S}.")
        self.retry_at = retry_at
        self.check_again_at = ask_at or retry_at
        self.call_class = call_class


def count_call(connection: Connection, operation: Operation, priority: Priority) -> CountedCall | None:
    """Count one call before it is made, in a separate transaction. Raises BudgetExhausted: nothing may be sent."""
    with transaction.atomic(durable=True):
        return count_call_in_transaction(connection, operation, priority)


def count_call_in_transaction(connection: Connection, operation: Operation, priority: Priority) -> CountedCall | None:
    """Count one call in the caller's short transaction, so that both are rolled back together.

    Return the counted call for `correct_count`; None for OAuth, which is not counted.
    """
    if operation.call_class == CallClass.OAUTH:
        return None
    reading = read_gauge(connection, operation.call_class, lock=True)
    if not reading.may_call(priority):
        raise _exhausted(reading, priority, operation.call_class)
    gauge = reading.gauge
    gauge.taken += 1
    if not reading.has_room_for(priority):
        gauge.tried_at = reading.now
    _write_call(gauge, reading.step, priority)
    return CountedCall(gauge.taken, reading.own_calls + 1, priority, gauge.answered_used)


def _exhausted(reading: GaugeReading, priority: Priority, call_class: CallClass) -> BudgetExhausted:
    retry_at = reading.may_call_at(priority)
    ask_at = min(retry_at, reading.now + _CHECK_AGAIN_AFTER.get(priority, _CHECK_AGAIN_AFTER_DEFAULT))
    return BudgetExhausted(retry_at, call_class, ask_at)


def correct_count(connection: Connection, operation: Operation, *, limit: int | None, remaining: int | None,
            reset: int | None, refused: bool, taken: CountedCall | None = None) -> None:  # fmt: skip
    """Correct the count with the rate headers of the answer to the call `taken`, or to the newest call without it."""
    if operation.call_class == CallClass.OAUTH:
        return
    with transaction.atomic():
        reading = read_gauge(connection, operation.call_class, lock=True)
        gauge = reading.gauge
        newest = CountedCall(
            max(gauge.taken, gauge.answered + 1), reading.own_calls, Priority.PEOPLE, gauge.answered_used
        )
        taken, before = taken or newest, dict(vars(gauge))
        anew = apply_report(reading, taken, RateReport(limit, remaining, reset, refused))
        gauge.save(update_fields=[name for name in _FIELDS if getattr(gauge, name) != before[name]])
        if anew is not None:
            _restart_count(reading, taken.priority, anew)


def read_gauge(connection: Connection, call_class: CallClass, *, lock: bool = False) -> GaugeReading:
    """Return the gauge of the connection's current token. `lock` locks its row until the transaction ends."""
    key = {"connection": connection, "generation": connection.token_generation, "call_class": str(call_class)}
    gauge = _locked(connection, call_class) if lock else Gauge.objects.filter(**key).first()
    if gauge is None:
        first = {"tenant_id": connection.tenant_id, "limit_seen": _last_limit(connection, call_class)}
        Gauge.objects.get_or_create(**key, defaults=first)
        return read_gauge(connection, call_class, lock=lock)
    now, counted = _counted(gauge, connection.tenant.environment.catalogue.limits.window_seconds)
    return _reading(connection, call_class, gauge, now, counted)


def gauges(connection_id: int, generation: int, first_step: int) -> QuerySet[Gauge]:
    """Return each class's gauge of a token, with the database's time and the calls from `first_step` on."""
    steps = CallCount.objects.filter(gauge=OuterRef("pk"), counted__gt=0, step__gte=first_step).order_by("step")
    return Gauge.objects.filter(connection=connection_id, generation=generation).annotate(
        now=ClockTime(),
        steps=ArraySubquery(steps.values_list(JSONArray("step", "priority", "counted"))),
    )


def first_step_to_read(connection: Connection) -> int:
    """Return a step before the first that counts. The machine's clock only limits what is read."""
    return _first_counting_step(connection, datetime.now(UTC) - timedelta(minutes=1))


def read_gauges(connection: Connection, found: Iterable[Gauge] | None = None) -> dict[CallClass, GaugeReading]:
    """Return the readings of both classes for pages, from `found` or loaded here, without a lock."""
    if found is None:
        found = gauges(connection.pk, connection.token_generation, first_step_to_read(connection))
    by_class = {gauge.call_class: gauge for gauge in found}
    readings = {}
    for each in (CallClass.GENERAL, CallClass.DEVICE):
        gauge = by_class.get(str(each)) or Gauge(connection=connection, call_class=str(each))
        now = getattr(gauge, "now", None) or datetime.now(UTC)
        oldest = _first_counting_step(connection, now)
        counted = tuple(tuple(step) for step in getattr(gauge, "steps", ()) if step[0] >= oldest)
        readings[each] = _reading(connection, each, gauge, now, counted)
    return readings


def _last_limit(connection: Connection, call_class: CallClass) -> int | None:
    """Return the limit that the service reported last. A new token has a new hour with the same limit."""
    gauges = Gauge.objects.filter(connection=connection, call_class=str(call_class), limit_seen__isnull=False)
    return gauges.order_by("-generation").values_list("limit_seen", flat=True).first()


def _first_counting_step(connection: Connection, now: datetime) -> int:
    """Return the first step that still counts."""
    window = connection.tenant.environment.catalogue.limits.window_seconds
    return (int(now.timestamp()) - window - MARGIN_SECONDS) // STEP_SECONDS


def _reading(
    connection: Connection, call_class: CallClass, gauge: Gauge, now: datetime, by_step: CallsByStep
) -> GaugeReading:
    limits = connection.tenant.environment.catalogue.limits
    configured = limits.general if call_class == CallClass.GENERAL else limits.device
    return GaugeReading(gauge, now, configured, limits.window_seconds, by_step)


def _restart_count(reading: GaugeReading, priority: Priority, calls: int) -> None:
    """Restart the count after the service did: only the last `calls` count, with this priority and the current step."""
    CallCount.objects.filter(gauge=reading.gauge).update(counted=0)
    key = {"gauge": reading.gauge, "step": reading.step, "priority": int(priority)}
    made = {"calls": 0, "tenant_id": reading.gauge.tenant_id}
    CallCount.objects.update_or_create(**key, defaults={"counted": calls}, create_defaults={"counted": calls, **made})


def expired_steps() -> list[QuerySet[CallCount]]:
    """Return the steps that ended a whole window before any that still counts. Call it inside `across_tenants`.

    Environments may have different windows: the longest one is used for all.
    """
    known = [each.catalogue.limits.window_seconds for each in ServiceEnvironment.objects.all()]
    oldest = int(datetime.now(UTC).timestamp()) - 2 * max([CALL_WINDOW_SECONDS, *known])
    return [CallCount.objects_across_tenants.filter(step__lt=oldest // STEP_SECONDS)]


def _locked(connection: Connection, call_class: CallClass) -> Gauge | None:
    """Return the gauge of the connection's token with its row locked until the transaction ends, or None."""
    with database.cursor() as cursor:
        cursor.execute(_LOCKED, [connection.tenant_id, connection.pk, connection.token_generation, str(call_class)])
        row = cursor.fetchone()
    return None if row is None else Gauge.from_db(database.alias, _FIELDS, row)


def _counted(gauge: Gauge, window: int) -> tuple[datetime, CallsByStep]:
    """Return the database's time, and (step, priority, calls) of what still counts in a window of so many seconds."""
    with database.cursor() as cursor:
        cursor.execute(_COUNTED, [gauge.pk, window + MARGIN_SECONDS, STEP_SECONDS])
        rows = cursor.fetchall()
    return rows[0][0], tuple(tuple(steps) for _now, *steps in rows if steps[0] is not None)


def _write_call(gauge: Gauge, step: int, priority: Priority) -> None:
    """Save the gauge's new values and add one call to its step and priority."""
    with database.cursor() as cursor:
        cursor.execute(_TAKE, [gauge.taken, gauge.tried_at, gauge.pk, step, int(priority)])
