"""How our clock differs from Celery's: it rings where something is due, and is still where nothing is.

A message that finds nothing to do costs a hundred times what the question costs. Celery's own loop wakes ten
milliseconds early and looks again and again until the moment is there, which costs more than the question: so these
timers are none of Celery's, and all that come together are one statement, which PostgreSQL has planned once.
"""

import heapq
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import structlog
from celery.beat import PersistentScheduler
from django.db import DatabaseError, connection

from portal.core.timers.ticking import WORK
from tenants.postgresql.planned import Planned
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)


class Clock(PersistentScheduler):  # type: ignore[misc]  # Celery tells no types
    """Beat's scheduler, for `beat_scheduler`. Celery keeps the timers that always ring, this the ones that ask."""

    _heap: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._looks: dict[str, float] = dict.fromkeys(WORK, 0.0)
        self._others_at = 0.0
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Ring for what is due. Returns the seconds until the next look."""
        now, producer = time.monotonic(), self.producer
        if now >= self._others_at:
            self._others_at = now + max(super().tick(*args, **kwargs), 0)
        for timer in due(self._come(now)):
            self.apply_entry(self.schedule[timer], producer=producer)
        return max(min(self._others_at, *self._looks.values()) - time.monotonic(), 0)

    def populate_heap(self, *args: Any, **kwargs: Any) -> None:
        super().populate_heap(*args, **kwargs)
        self._heap = [event for event in self._heap if event.entry.name not in WORK]
        heapq.heapify(self._heap)

    def _come(self, now: float) -> tuple[str, ...]:
        """The timers of which it is time, set to their next look: in step, unless that moment has passed as well."""
        come = tuple(timer for timer, at in self._looks.items() if at <= now)
        for timer in come:
            every = self.schedule[timer].schedule.run_every.total_seconds()
            following = self._looks[timer] + every
            self._looks[timer] = following if following > now else now + every
        return come


def due(timers: tuple[str, ...]) -> Iterator[str]:
    """Which of these timers have work. All, when the database cannot say: the task itself finds out."""
    asked = tuple(timer for timer in timers if timer in WORK)
    found = _ask(asked) if asked else ()
    return (timer for timer in timers if timer not in WORK or found[asked.index(timer)])


def _ask(timers: tuple[str, ...]) -> tuple[bool, ...]:
    try:
        with across_tenants("the timers of all tenants are looked at together"), connection.cursor() as cursor:
            cursor.execute(_question(timers).asking({}))
            return cursor.fetchone() or ()
    except DatabaseError as error:
        log.warning("timers_not_read", timers=timers, error=type(error).__name__)
        connection.close()
        return (True,) * len(timers)


@lru_cache
def _question(timers: tuple[str, ...]) -> Planned:
    """One statement that asks for each timer whether there is a row of any of its querysets."""
    asked, params = [], []
    for timer in timers:
        made = [rows.order_by().values("pk").query.sql_with_params() for rows in WORK[timer]()]
        asked.append(" OR ".join(f"EXISTS ({rows})" for rows, _ in made))
        params += [param for _, given in made for param in given]
    return Planned(f"SELECT {', '.join(asked)}", params)
