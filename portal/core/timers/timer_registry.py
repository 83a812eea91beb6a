"""Timers: look for rows that are due, every so often, and wake a worker for them.

An area of work registers its timers in `AppConfig.ready()`. The leading clock asks about all of them in one statement
(`beat.py`), and wakes a worker only where a row is due. A timer that works through all tenants, or deletes what is old,
does so in rounds (`rounds.py`): its row in `timers_run` is what is due.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import QuerySet

from portal.core.timers import task_queue
from portal.site.celery import app, portal_task
from tenants.models import TenantModel
from tenants.scope import across_tenants

_Row = TypeVar("_Row", bound=TenantModel)
#: Rows that are due, ordered by the moment since when they are. Unordered rows are due at no moment: they have no lag.
Querysets = Callable[[], list[QuerySet[Any]]]
#: For how long a look goes on, batch after batch. The clock rings again for what is left.
MAX_CHECK_SECONDS = 20.0


@dataclass(frozen=True)
class Timer:
    """How often the clock looks, the rows of which one is enough to ring, and those whose age is the timer's lag.

    `work` and `lag` are called inside `across_tenants`. `every` is how often the work is to be done; a round's row is
    looked for more often (`check_every`).
    """

    every: float
    due_rows: Querysets
    lag_rows: Querysets
    check_every: float
    is_in_rounds: bool = False


TIMERS: dict[str, Timer] = {}


def start_time_limit() -> Callable[[], bool]:
    """Return a function that says whether a look that begins now may go on with another batch."""
    until = time.monotonic() + MAX_CHECK_SECONDS
    return lambda: time.monotonic() < until


@dataclass(frozen=True, kw_only=True)
class DueRows(Generic[_Row]):
    """Rows of all tenants that are due. `columns` are the columns that whoever takes them asks for beside the keys.

    `claim_values` is written into what was taken, so that the next look passes it by for a while.
    """

    rows: Callable[[], QuerySet[_Row]]
    claim_values: Callable[[], Mapping[str, Any]] = dict
    columns: tuple[str, ...] = ()
    order: tuple[str, ...] = ("due_at",)
    batch_size: int = 200

    def querysets(self) -> list[QuerySet[_Row]]:
        return [self.rows().order_by(*self.order)]

    def claim_batch(self, excluded_ids: Collection[int] = ()) -> list[_Row]:
        """Mark a batch of what is due and return it. A row that is locked is left to the next look."""
        with across_tenants("the timers of all tenants are looked at together"), transaction.atomic():
            rows = self.rows().order_by(*self.order).select_for_update(of=("self",), skip_locked=True)
            rows = rows.exclude(pk__in=excluded_ids) if excluded_ids else rows
            due = list(rows.only("tenant_id", *self.columns)[: self.batch_size])
            if due and (mark := self.claim_values()):
                rows.model.objects_across_tenants.filter(pk__in=[row.pk for row in due]).update(**mark)
        return due

    def claim_batches(self) -> Iterator[list[_Row]]:
        """Take batch after batch until nothing is due, or for as long as a look goes on. No row is taken twice."""
        taken: set[int] = set()
        may_go_on = start_time_limit()
        while batch := self.claim_batch(taken):
            yield batch
            taken |= {row.pk for row in batch}
            if len(batch) < self.batch_size or not may_go_on():
                return


@dataclass(frozen=True, kw_only=True)
class TaskWakeup(DueRows[_Row]):
    """Due rows that a worker is woken for. A message that no worker took is sent again, by the mark's time.

    `task` is the name of the task, or returns it for a row; `ids` are the columns it is given.
    """

    task: str | Callable[[_Row], str]
    id_columns: tuple[str, ...] = ("tenant_id", "pk")
    expires: float = task_queue.EXPIRES_SECONDS

    def check_due(self) -> int:
        """Ring for all that is due. Returns how often."""
        return sum(map(self._enqueue, self.claim_batches()))

    def _enqueue(self, due: list[_Row]) -> int:
        calls: dict[str, dict[tuple[int, ...], None]] = {}
        for row in due:
            name = self.task if isinstance(self.task, str) else self.task(row)
            calls.setdefault(name, {})[tuple(getattr(row, column) for column in self.id_columns)] = None
        for name, rows in calls.items():
            task_queue.enqueue(name, list(rows), expires=self.expires)
        return sum(map(len, calls.values()))


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
    """Have `look` called by a worker of this queue where `work` has a row, which is asked every so many seconds.

    `lag` are the rows whose age is shown as the timer's lag, where those of `work` leave out what was rung for. A look
    may take `seconds`; one that waits for a worker longer than the next is due, and than 10 s, is dropped.
    """
    add_timer(
        name, check, Timer(every, due_rows, lag_rows or due_rows, check_every=every), queue=queue, seconds=seconds
    )


def add_timer(name: str, check: Callable[[], object], timer: Timer, *, queue: str, seconds: int) -> str:
    """Add a timer and its entry for Celery. Returns the name of its task."""

    def tick() -> None:
        check()

    task = portal_task(queue=queue, promise="tick", seconds=seconds, name=f"portal.timers.{name}")(tick)
    options = {"expires": max(10.0, min(timer.check_every, 600.0))}
    app.conf.beat_schedule[name] = {"task": task.name, "schedule": timer.every, "options": options}
    TIMERS[name] = timer
    return str(task.name)
