"""The lease of the leading clock. It is stored in the database and renewed each second by the database's time.

Any number of clocks run. The one with the lease starts tasks, the others check each second whether it is free. It is
free if it was released, if its holder's session has ended (`tenants/postgresql/session_locks.py`), or LEASE_SECONDS
after the last renewal. In a restored database no clock gets it until the database was marked (`portal/base/restore`).
"""

import os
import socket
import time
import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, Q, QuerySet, When

from portal.base.timers.clock import ClockTime
from portal.base.timers.database_identity import DatabaseIdentity, is_from_other_database
from portal.base.timers.models import Lease
from tenants.postgresql import session_locks

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
    silent = Q(ticked_at__lt=ClockTime() - timedelta(seconds=LEASE_SECONDS))
    return Q(holder=None) | silent | session_locks.session_ended("holder", since="ticked_at")


def _lock_token(token: uuid.UUID) -> None:
    """Take the token's lock with this session, before the others can see the lease as taken."""
    list(_row().values_list(session_locks.TakeLock(token)))
