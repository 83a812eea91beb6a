"""The clock: it rings where something is due, while it leads, and is still where nothing is.

A message that finds nothing to do costs a hundred times what the question costs. Celery's own loop wakes ten
milliseconds early and looks again and again until the moment is there, which costs more than the question: so our
timers are none of Celery's, and all that come together are one statement, which PostgreSQL has planned once.

Any number of clocks run, one leads (`leader_lease.py`). While the database does not answer none rings: all work is in
it.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import structlog
from celery.beat import Scheduler
from django.db import Error, OperationalError, connection

from portal.core.timers import rounds, wal_position
from portal.core.timers.leader_lease import LeaseHolder
from portal.core.timers.timer_registry import TIMERS
from tenants.postgresql.prepared_statements import PreparedStatement
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)

# How often the lease is renewed, or looked at by a clock that does not lead.
_RENEW_SECONDS = 1.0
# How soon a timer that had work is looked at again, however seldom it is looked at otherwise.
_CHECK_AGAIN_SECONDS = 5.0


#: What a clock does before it looks at the lease each time.
BEFORE_LEADING: list[Callable[[], None]] = []


class Clock(Scheduler):  # type: ignore[misc]  # Celery tells no types
    """Beat's scheduler, for `beat_scheduler`. Celery keeps how each timer is rung, and nothing is due of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.holder = LeaseHolder()
        self._looks: dict[str, float] = dict.fromkeys(TIMERS, 0.0)
        self._renew_at = 0.0
        self._is_ticking = False
        super().__init__(*args, **kwargs)

    def tick(self) -> float:
        """Ring for what is due, if this clock leads. Returns the seconds until the next look."""
        self._is_ticking = True
        producer = self.producer
        if time.monotonic() >= self._renew_at:
            self._renew_lease()
        looks = self._enqueue_due(producer) if self.holder.is_leader else ()
        self._is_ticking = False
        return max(min((self._renew_at, *looks)) - time.monotonic(), 0)

    def close(self) -> None:
        """Give the lease up. Celery calls this at the end, and once more from inside the signal that ends a tick, when
        the session may be at work: then it is left alone.
        """
        if self._is_ticking:
            self._is_ticking = False
            return
        with contextlib.suppress(Error):
            connection.close()
            self.holder.release()

    def _renew_lease(self) -> None:
        led = self.holder.is_leader
        self._renew_at = time.monotonic() + _RENEW_SECONDS
        try:
            for before in BEFORE_LEADING:
                before()
            place = wal_position.read_position()
            if self.holder.renew_or_take():
                wal_position.store_position(place)
            if self.holder.is_leader and not led:
                rounds.create_missing_runs()
                log.info("clock_leads", host=self.holder.host)
            elif led and not self.holder.is_leader:
                log.warning("clock_leads_no_more", host=self.holder.host)
        except Error as error:
            log.warning("lease_not_renewed", error=type(error).__name__)
            connection.close()

    def _enqueue_due(self, producer: Any) -> tuple[float, ...]:
        """Ring for each timer that has come and has work. Returns when to look at the timers next."""
        now = time.monotonic()
        for timer in timers_with_work(self._timers_to_check(now)):
            if not self.holder.is_leader:  # it stood still
                break
            self.apply_entry(self.schedule[timer], producer=producer)
            self._looks[timer] = min(self._looks[timer], now + _CHECK_AGAIN_SECONDS)
        return tuple(self._looks.values())

    def _timers_to_check(self, now: float) -> tuple[str, ...]:
        """The timers of which it is time, set to their next look: in step, unless that moment has passed as well."""
        come = tuple(timer for timer, at in self._looks.items() if at <= now)
        for timer in come:
            pace = TIMERS[timer].check_every
            following = self._looks[timer] + pace
            self._looks[timer] = following if following > now else now + pace
        return come


def timers_with_work(timers: tuple[str, ...]) -> Iterator[str]:
    """Which of these timers have work. All, when the question fails: the task itself finds out. None, when the database
    does not answer.
    """
    found = _query_timers(timers) if timers else ()
    return (timer for timer, is_due in zip(timers, found, strict=True) if is_due)


def _query_timers(timers: tuple[str, ...]) -> tuple[bool, ...]:
    try:
        with across_tenants("the timers of all tenants are looked at together"), connection.cursor() as cursor:
            cursor.execute(_build_query(timers).execute_text({}))
            return cursor.fetchone() or ()
    except Error as error:
        log.warning("timers_not_read", timers=timers, error=type(error).__name__)
        connection.close()
        return (not isinstance(error, OperationalError),) * len(timers)


@lru_cache
def _build_query(timers: tuple[str, ...]) -> PreparedStatement:
    """One statement that asks for each timer whether there is a row of any of its querysets."""
    asked, params = [], []
    for timer in timers:
        made = [rows.order_by().values("pk").query.sql_with_params() for rows in TIMERS[timer].due_rows()]
        asked.append(" OR ".join(f"EXISTS ({rows})" for rows, _ in made))
        params += [param for _, given in made for param in given]
    return PreparedStatement(f"SELECT {', '.join(asked)}", params)
