"""The clock: it starts the tasks of timers with due rows, while it holds the lease.

An unneeded message costs a hundred times as much as the query for due rows. Celery's own loop is not used for timers,
because it wakes early and polls until the moment has come. All timers that are due together are one prepared statement.
While the database does not answer, no tasks start, because all work is stored in it.

Any number of clocks run. The one with the lease starts tasks, the others check each second whether it is free. The
lease is stored in the database and renewed each second by the database's time. It is free if it was released, if its
holder's session has ended (`tenants/postgresql/session_locks.py`), or LEASE_SECONDS after the last renewal. In a
restored database no clock gets it until the database was marked (`portal/base/restore`).
"""

import contextlib
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import structlog
from celery.beat import Scheduler
from django.db import Error, OperationalError, connection, transaction
from django.db.models import Case, F, Q, QuerySet, When

from portal.base.timers import database_identity, rounds
from portal.base.timers.clock import ClockTime
from portal.base.timers.database_identity import DatabaseIdentity, is_from_other_database
from portal.base.timers.models import Lease
from portal.base.timers.timer_registry import TIMERS
from tenants.postgresql import session_locks
from tenants.postgresql.prepared_statements import PreparedStatement
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)

# How long a holder that does not renew keeps the lease.
LEASE_SECONDS = 10.0
# A holder stops earlier than others may begin, because the clocks of two machines differ a little.
_MARGIN = 2.0
_ROW = 1


class LeaseHolder:
    """A process that wants the lease."""

    def __init__(self) -> None:
        self.token = uuid.uuid4()
        self.host = f"{socket.gethostname()}, process {os.getpid()}"
        self._until = 0.0
        # The session that took the lease. Its lock shows the others that this process runs.
        self._session: Any = None

    @property
    def is_leader(self) -> bool:
        """Return True if this process holds the lease by its own clock. False after it was paused for too long."""
        return time.monotonic() < self._until

    def renew_or_take(self) -> bool:
        """Renew the lease, or take it if it is free. Return True if this process holds it."""
        before = time.monotonic()
        held = self._renew() or self._take()
        self._until = before + LEASE_SECONDS - _MARGIN if held else 0.0
        return held

    def release(self) -> None:
        """Release the lease, so that another clock leads at once."""
        self._until, self._session = 0.0, None
        Lease.objects.filter(holder=self.token).update(holder=None)

    def _renew(self) -> bool:
        if self._session is None or self._session is not connection.connection:
            return False
        rows = Lease.objects.filter(holder=self.token).exclude(is_from_other_database())
        return bool(rows.update(ticked_at=ClockTime()))

    def _take(self) -> bool:
        self._session = None
        Lease.objects.get_or_create(pk=_ROW)
        with transaction.atomic():
            rows = Lease.objects.filter(Q(holder=self.token) | _is_free(), pk=_ROW).exclude(is_from_other_database())
            since = Case(When(holder=self.token, then=F("since")), default=ClockTime())
            now = {"since": since, "ticked_at": ClockTime(), "identity": DatabaseIdentity()}
            if not rows.update(holder=self.token, host=self.host, **now):
                return False
            _lock_token(self.token)
        self._session = connection.connection
        return True


def last_tick() -> datetime | None:
    """Return when a clock last ticked, or None."""
    return _row().values_list("ticked_at", flat=True).first()


def _row() -> QuerySet[Lease]:
    return Lease.objects.filter(pk=_ROW)


def _is_free() -> Q:
    is_silent = Q(ticked_at__lt=ClockTime() - timedelta(seconds=LEASE_SECONDS))
    return Q(holder=None) | is_silent | session_locks.session_ended("holder", since="ticked_at")


def _lock_token(token: uuid.UUID) -> None:
    """Take the token's lock with this session, before the others can see the lease as taken."""
    list(_row().values_list(session_locks.TakeLock(token)))


# How often the lease is renewed, or checked by a clock that does not lead.
_RENEW_SECONDS = 1.0
# How soon a timer that had work is checked again, even if its interval is longer.
_CHECK_AGAIN_SECONDS = 5.0


# What a clock does each time before it checks the lease.
BEFORE_LEADING: list[Callable[[], None]] = []


class Clock(Scheduler):  # type: ignore[misc]  # Celery has no types
    """Beat's scheduler, for `beat_scheduler`. Celery only stores how tasks are sent; it starts none itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.holder = LeaseHolder()
        self._looks: dict[str, float] = dict.fromkeys(TIMERS, 0.0)
        self._renew_at = 0.0
        self._is_ticking = False
        super().__init__(*args, **kwargs)

    def tick(self) -> float:
        """Start the tasks of due timers, if this clock leads. Return the seconds until the next check."""
        self._is_ticking = True
        producer = self.producer
        if time.monotonic() >= self._renew_at:
            self._renew_lease()
        due_times = self._enqueue_due(producer) if self.holder.is_leader else ()
        self._is_ticking = False
        return max(min((self._renew_at, *due_times)) - time.monotonic(), 0)

    def close(self) -> None:
        """Release the lease.

        Celery calls this at the end, and a second time from the signal handler during a tick. Then the database session
        may be in use, so nothing is done.
        """
        if self._is_ticking:
            self._is_ticking = False
            return
        with contextlib.suppress(Error):
            connection.close()
            self.holder.release()

    def _renew_lease(self) -> None:
        was_leader = self.holder.is_leader
        self._renew_at = time.monotonic() + _RENEW_SECONDS
        try:
            for before in BEFORE_LEADING:
                before()
            place = database_identity.read_position()
            if self.holder.renew_or_take():
                database_identity.store_position(place)
            if self.holder.is_leader and not was_leader:
                rounds.create_missing_runs()
                log.info("clock_leads", host=self.holder.host)
            elif was_leader and not self.holder.is_leader:
                log.warning("clock_leads_no_more", host=self.holder.host)
        except Error as error:
            log.warning("lease_not_renewed", error=type(error).__name__)
            connection.close()

    def _enqueue_due(self, producer: Any) -> tuple[float, ...]:
        """Start the task of each timer that is due and has work. Return when to check the timers next."""
        now = time.monotonic()
        for timer in timers_with_work(self._timers_to_check(now)):
            if not self.holder.is_leader:  # this process was paused
                break
            self.apply_entry(self.schedule[timer], producer=producer)
            self._looks[timer] = min(self._looks[timer], now + _CHECK_AGAIN_SECONDS)
        return tuple(self._looks.values())

    def _timers_to_check(self, now: float) -> tuple[str, ...]:
        """Return the timers that are due, and set their next check: in step, or from now if that moment has passed."""
        come = tuple(timer for timer, at in self._looks.items() if at <= now)
        for timer in come:
            pace = TIMERS[timer].check_every
            next_time = self._looks[timer] + pace
            self._looks[timer] = next_time if next_time > now else now + pace
        return come


def timers_with_work(timers: tuple[str, ...]) -> Iterator[str]:
    """Return which of these timers have work.

    If the query fails, return all, because the task checks again; if the database does not answer, none.
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
    """Return one statement that queries for each timer whether any of its querysets has a row."""
    columns, params = [], []
    for timer in timers:
        made = [rows.order_by().values("pk").query.sql_with_params() for rows in TIMERS[timer].due_rows()]
        columns.append(" OR ".join(f"EXISTS ({rows})" for rows, _ in made))
        params += [param for _, given in made for param in given]
    return PreparedStatement(f"SELECT {', '.join(columns)}", params)
