"""The lag of each timer: the age of its oldest due row, or how long its round is overdue."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import DateTimeField, ExpressionWrapper, F, OrderBy, QuerySet

from portal.base.timers.models import Run
from portal.base.timers.timer_registry import TIMERS
from tenants.postgresql.prepared_statements import PreparedStatement
from tenants.scope import across_tenants

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
    (now, waiting), runs = _overdue_seconds(), Run.objects.in_bulk()
    return [
        _of_round(name, timer.every, runs, now)
        if timer.is_in_rounds
        else Lag(name, timer.every, waiting.get(name) or 0.0, None, False)
        for name, timer in TIMERS.items()
    ]


def _of_round(name: str, every: float, runs: Mapping[str, Run], now: datetime) -> Lag:
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
    asked, params, names = ["clock_timestamp()"], [], []
    for name, timer in TIMERS.items():
        made = [oldest.query.sql_with_params() for rows in timer.lag_rows() for oldest in _oldest(rows)]
        if made:
            names.append(name)
            ages = ", ".join(f"extract(epoch FROM clock_timestamp() - ({rows}))" for rows, _ in made)
            asked.append(f"GREATEST(0, {ages})")
            params += [param for _, given in made for param in given]
    return names, PreparedStatement(f"SELECT {', '.join(asked)}", params)


def _oldest(rows: QuerySet[Any]) -> list[QuerySet[Any]]:
    """Return the moment of the first of ordered rows, as a queryset; nothing for unordered ones."""
    if not rows.query.order_by:
        return []
    first = rows.query.order_by[0]
    by = first.expression if isinstance(first, OrderBy) else first if not isinstance(first, str) else F(first)
    return [rows.values(moment=ExpressionWrapper(by, DateTimeField()))[:1]]
