"""Timers: check regularly for due rows, start worker tasks for them, and measure their lag.

Apps register their timers in `signals.py`. The leading clock queries all of them in one statement (`beat.py`),
and starts a task only if a row is due. Timers that process all tenants, or delete old rows, work in rounds
(`rounds.py`): their due row is in `timers_timerrun`. A timer's lag is the age of its oldest due row, or how long its
round is overdue.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, OrderBy, QuerySet

from portal.base.timers import celery_app
from portal.base.timers.celery_app import app, clock_task
from portal.base.timers.clock import ClockTime
from portal.base.timers.models import TimerRun
from tenants.models import TenantModel
from tenants.postgresql.prepared_statements import PreparedStatement
from tenants.scope import across_tenants

_Row = TypeVar("_Row", bound=TenantModel)
# Due rows, ordered by the moment since when they are due. Unordered rows have no lag.
Querysets = Callable[[], list[QuerySet[Any]]]
# How long a check continues, batch after batch. The clock starts another one for the rest.
MAX_CHECK_SECONDS = 20.0


@dataclass(frozen=True)
class Timer:
    """How often the clock checks, the rows that start the task, and the rows whose age is the timer's lag.

    `due_rows` and `lag_rows` are called inside `across_tenants`. `every` is the interval of the work; a round's row is
    checked more often (`check_every`).
    """

    every: float
    due_rows: Querysets
    lag_rows: Querysets
    check_every: float
    is_in_rounds: bool = False


TIMERS: dict[str, Timer] = {}


def start_time_limit() -> Callable[[], bool]:
    """Return a function that returns True while a check that begins now may continue with another batch."""
    until = time.monotonic() + MAX_CHECK_SECONDS
    return lambda: time.monotonic() < until


@dataclass(frozen=True, kw_only=True)
class DueRows(Generic[_Row]):
    """Due rows of all tenants. `columns` are loaded in addition to the keys.

    `claim_values` are written into claimed rows, so that the next check skips them for a while.
    """

    rows: Callable[[], QuerySet[_Row]]
    claim_values: Callable[[], Mapping[str, Any]] = dict
    columns: tuple[str, ...] = ()
    order: tuple[str, ...] = ("due_at",)
    batch_size: int = 200

    def querysets(self) -> list[QuerySet[_Row]]:
        return [self.rows().order_by(*self.order)]

    def claim_batch(self, excluded_ids: Collection[int] = ()) -> list[_Row]:
        """Claim a batch of due rows and return it. Locked rows are left to the next check."""
        with across_tenants("the timers of all tenants are looked at together"), transaction.atomic():
            rows = self.rows().order_by(*self.order).select_for_update(of=("self",), skip_locked=True)
            rows = rows.exclude(pk__in=excluded_ids) if excluded_ids else rows
            due = list(rows.only("tenant_id", *self.columns)[: self.batch_size])
            if due and (mark := self.claim_values()):
                rows.model.objects_across_tenants.filter(pk__in=[row.pk for row in due]).update(**mark)
        return due

    def claim_batches(self) -> Iterator[list[_Row]]:
        """Yield claimed batches until nothing is due, or the check's time is over. No row is claimed twice."""
        taken: set[int] = set()
        may_go_on = start_time_limit()
        while batch := self.claim_batch(taken):
            yield batch
            taken |= {row.pk for row in batch}
            if len(batch) < self.batch_size or not may_go_on():
                return


@dataclass(frozen=True, kw_only=True)
class Process(DueRows[_Row]):
    """Work on rows that goes on after a crash, a restart or a lost message, because each row says when it is due.

    The clock claims the due rows of all tenants and starts a task for each. The task enters the tenant's scope and
    calls `step` with the row's id. The step does what is left to do for the row, and stores when the row is due again;
    null: it is finished. So a second task for a row does no harm. A row that stays claimed, because no worker received
    the message or the worker died, is due again when the claim ends (`claim_values`).

    `name` is the name of the timer, `every` the interval of its checks in seconds, and `seconds` the longest step.
    Without `is_per_row`, one task works on all due rows of a tenant, and `step` has no argument.
    """

    name: str
    step: Callable[..., object]
    queue: str
    every: float
    seconds: int = 60
    is_per_row: bool = True
    expires: float = celery_app.EXPIRES_SECONDS

    @property
    def task(self) -> str:
        return f"portal.processes.{self.name}"

    def register(
        self, *, check: Callable[[], object] | None = None, due_rows: Querysets | None = None,
        lag_rows: Querysets | None = None,
    ) -> None:  # fmt: skip
        """Declare the task and register the timer. Call it from `signals.py`.

        `check` is called instead of `check_due`, and `due_rows` are queried instead of `rows`, for a timer that does
        more than starting the task.
        """
        _processes[self.name] = self
        celery_app.declare(self.task, self.step, queue=self.queue, seconds=self.seconds, is_per_row=self.is_per_row)
        due_rows = due_rows or self.querysets
        register(
            self.name, check or self.check_due, every=self.every, queue=self.queue, due_rows=due_rows, lag_rows=lag_rows
        )

    def check_due(self) -> int:
        """Start tasks for all due rows. Return their number."""
        return sum(map(self._enqueue, self.claim_batches()))

    def _enqueue(self, due: list[_Row]) -> int:
        calls = dict.fromkeys((row.tenant_id, row.pk) if self.is_per_row else (row.tenant_id,) for row in due)
        celery_app.enqueue(self.task, list(calls), expires=self.expires)
        return len(calls)

    def wake(self, tenant_id: int, *row_id: int) -> None:
        """Start the task after the transaction, without waiting for the clock."""
        celery_app.enqueue_after_commit(self.task, tenant_id, *row_id, expires=self.expires)


_processes: dict[str, Process[Any]] = {}


def wake(process: str, tenant_id: int, *row_id: int) -> None:
    """Start a registered process after the transaction (`Process.wake`), from a module that its `step` imports."""
    _processes[process].wake(tenant_id, *row_id)


def due(model: type[_Row], field: str = "due_at", **conditions: Any) -> Callable[[], QuerySet[_Row]]:
    """Return a function for the rows of all tenants whose time in `field` has come."""
    return lambda: model.objects_across_tenants.filter(**{f"{field}__lte": ClockTime()}, **conditions)


def retry_after(pause: timedelta | float, field: str = "due_at") -> Callable[[], Mapping[str, Any]]:
    """Return `claim_values` by which a claimed row is due again after this pause (or number of seconds)."""
    pause = pause if isinstance(pause, timedelta) else timedelta(seconds=pause)
    return lambda: {field: ClockTime() + pause}


def register(
    name: str,
    check: Callable[[], object],
    *,
    every: float,
    queue: str,
    due_rows: Querysets,
    lag_rows: Querysets | None = None,
    seconds: int = 30,
) -> None:
    """Register `check` to be run by a worker of this queue if `due_rows` has a row, queried every so many seconds.

    `lag_rows` are the rows whose age is the timer's lag, for `due_rows` without claimed rows. A check may take
    `seconds`. A message that waits longer than the interval, and than 10 s, is dropped.
    """
    add_timer(
        name, check, Timer(every, due_rows, lag_rows or due_rows, check_every=every), queue=queue, seconds=seconds
    )


def add_timer(name: str, check: Callable[[], object], timer: Timer, *, queue: str, seconds: int) -> str:
    """Add a timer and its entry for Celery. Return the name of its task."""

    def tick() -> None:
        check()

    task = clock_task(queue=queue, seconds=seconds, name=f"portal.timers.{name}")(tick)
    options = {"expires": max(10.0, min(timer.check_every, 600.0))}
    app.conf.beat_schedule[name] = {"task": task.name, "schedule": timer.every, "options": options}
    TIMERS[name] = timer
    return str(task.name)


# A timer is late if its work waits for this many seconds beyond its interval.
_LATE_SECONDS = 60.0


class Lag(NamedTuple):
    """The lag of one timer.

    `every`: the interval of its work. `seconds`: how long its oldest row has been due. `last_run`: when a round was
    last complete (None for timers without rounds). `is_round_open`: a round is under way.
    """

    name: str
    every: float
    seconds: float
    last_run: datetime | None
    is_round_open: bool

    @property
    def is_late(self) -> bool:
        return self.seconds > self.every + _LATE_SECONDS


def lags() -> list[Lag]:
    """Return the lag of every timer, in two statements: one for all due rows, one for all rounds."""
    (now, waiting), runs = _overdue_seconds(), TimerRun.objects.in_bulk()
    return [
        _of_round(name, timer.every, runs, now)
        if timer.is_in_rounds
        else Lag(name, timer.every, waiting.get(name) or 0.0, None, False)
        for name, timer in TIMERS.items()
    ]


def _of_round(name: str, every: float, runs: Mapping[str, TimerRun], now: datetime) -> Lag:
    run = runs.get(name)
    if run is None:
        return Lag(name, every, 0.0, None, False)
    waited = (now - (run.done_at or run.created_at)).total_seconds() - (every if run.done_at else 0.0)
    return Lag(name, every, max(waited, 0.0), run.done_at, run.place > 0)


def _overdue_seconds() -> tuple[datetime, dict[str, float]]:
    """Return the database's time, and the seconds of each timer that has rows."""
    with across_tenants("the timers of all tenants are looked at together"), connection.cursor() as cursor:
        names, question = _build_query()
        cursor.execute(question.execute_text({}))
        now, *ages = cursor.fetchone()
    return now, dict(zip(names, map(float, ages), strict=True))


@cache
def _build_query() -> tuple[list[str], PreparedStatement]:
    """Return the timers' names and one statement for the age of each one's oldest due row, in seconds."""
    columns, params, names = ["clock_timestamp()"], [], []
    for name, timer in TIMERS.items():
        made = [oldest.query.sql_with_params() for rows in timer.lag_rows() for oldest in _oldest(rows)]
        if made:
            names.append(name)
            ages = ", ".join(f"extract(epoch FROM clock_timestamp() - ({rows}))" for rows, _ in made)
            columns.append(f"GREATEST(0, {ages})")
            params += [param for _, given in made for param in given]
    return names, PreparedStatement(f"SELECT {', '.join(columns)}", params)


def _oldest(rows: QuerySet[Any]) -> list[QuerySet[Any]]:
    """Return the moment of the first of ordered rows, as a queryset; nothing for unordered ones."""
    if not rows.query.order_by:
        return []
    first = rows.query.order_by[0]
    by = first.expression if isinstance(first, OrderBy) else first if not isinstance(first, str) else F(first)
    return [rows.values(moment=ExpressionWrapper(by, DateTimeField()))[:1]]
