"""Timers: every so often somebody looks for rows that are due, and rings for them.

An area of work registers its timers in `AppConfig.ready()`. Beat asks about all of them in one statement (`beat.py`)
and wakes a worker only where a row is due; a timer without rows to ask for always rings.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import QuerySet

from portal.core.timers import bell
from portal.site.celery import app, promised
from tenants.models import TenantModel
from tenants.scope import across_tenants

_Row = TypeVar("_Row", bound=TenantModel)
Work = Callable[[], list[QuerySet[Any]]]
# Of each timer that asks, the rows of which one is enough to ring; called inside `across_tenants`.
WORK: dict[str, Work] = {}


@dataclass(frozen=True, kw_only=True)
class Due(Generic[_Row]):
    """Rows of all tenants that are due. `needs` are the columns that whoever takes them asks for beside the keys.

    `mark` is written into what was taken, so that the next look passes it by for a while.
    """

    rows: Callable[[], QuerySet[_Row]]
    mark: Callable[[], Mapping[str, Any]] = dict
    needs: tuple[str, ...] = ()
    order: tuple[str, ...] = ("due_at",)
    batch: int = 200

    def work(self) -> list[QuerySet[_Row]]:
        return [self.rows()]

    def take(self) -> list[_Row]:
        """Mark what is due and return it. A row that somebody holds is left to the next look."""
        with across_tenants("the timers of all tenants are looked at together"), transaction.atomic():
            rows = self.rows().order_by(*self.order).select_for_update(of=("self",), skip_locked=True)
            due = list(rows.only("tenant_id", *self.needs)[: self.batch])
            if due and (mark := self.mark()):
                rows.model.objects_across_tenants.filter(pk__in=[row.pk for row in due]).update(**mark)
        return due


@dataclass(frozen=True, kw_only=True)
class Wakeup(Due[_Row]):
    """Due rows that a worker is woken for. A task that nobody heard is rung for again, by the mark's time.

    `task` is the name of the task, or tells it of a row; `ids` are the columns it is given.
    """

    task: str | Callable[[_Row], str]
    ids: tuple[str, ...] = ("tenant_id", "pk")
    expires: float = bell.SECONDS

    def look(self) -> int:
        """Ring for what is due. Returns how often."""
        calls: dict[str, dict[tuple[int, ...], None]] = {}
        for row in self.take():
            name = self.task if isinstance(self.task, str) else self.task(row)
            calls.setdefault(name, {})[tuple(getattr(row, column) for column in self.ids)] = None
        for name, rows in calls.items():
            bell.ring(name, list(rows), expires=self.expires)
        return sum(map(len, calls.values()))


def register(
    name: str, look: Callable[[], object], *, every: float, queue: str, work: Work | None = None, seconds: int = 30
) -> None:
    """Have `look` called by a worker of this queue every so many seconds, where `work` has a row or is not given.

    A look may take `seconds`; one that waits for a worker longer than the next is due, and than 10 s, is dropped.
    """

    def tick() -> None:
        look()

    task = promised(queue=queue, promise="tick", seconds=seconds, name=f"portal.timers.{name}")(tick)
    options = {"expires": max(10.0, min(every, 600.0))}
    app.conf.beat_schedule[name] = {"task": task.name, "schedule": every, "options": options}
    if work is not None:
        WORK[name] = work
