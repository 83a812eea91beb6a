"""Leases, so that one worker at a time reads a kind of a tenant, and the limits on API calls for sync.

A lease is claimed by one UPDATE and expires when its worker crashes. A worker that was only slow finds that its token
has changed and stops, because `renew` is called in every transaction that writes.

Sync may use a quarter of the hour's calls (`budget.priorities`). As these run out, background reads stop first, then
long lists. The rest is for readings of one call: small lists and first pages. The log, and a list that a person waits
for, have priority and may use all free calls.
"""

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db.models import F, Q, QuerySet, Value

from accessapi.errors import ServiceError
from accessapi.operations import CallClass
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.budget import ledger
from portal.domain.budget.priorities import MAX_SHARE_FOR_SYNC, MAX_SHARE_FOR_WATCHED, Priority
from portal.domain.mirror import failure_reasons
from portal.domain.mirror.kinds import READ_INTERVALS, MirrorKind
from portal.domain.mirror.models import MirrorState
from tenants.models import Connection

LEASE_DURATION = timedelta(seconds=60)
_LONGEST_PAUSE = timedelta(hours=1)
_SECONDS_A_PAGE = 75

# Each stops when this part of sync's quarter is used.
BACKGROUND_SHARE = 0.75
LONG_LIST_SHARE = 0.92


class LeaseLost(Exception):
    """Another worker has claimed the lease, so this one must not write any more."""


@dataclass(frozen=True)
class MirrorLease:
    """A claimed kind of the entered tenant."""

    state_id: int
    kind: MirrorKind
    token: uuid.UUID
    is_awaited: bool = False

    @property
    def priority(self) -> Priority:
        """Return the priority of the API calls for this kind."""
        return Priority.AWAITED if self.is_awaited or self.kind == MirrorKind.HISTORIES else Priority.SYNC

    def renew(self) -> None:
        """Extend the lease and lock its row until the transaction ends. Raises LeaseLost."""
        if not self._own_row().update(lease_until=ClockTime() + Value(LEASE_DURATION)):
            raise LeaseLost(self.kind)

    def complete(self, *, as_of: datetime, total: int | None = None, pages: int = 1, error: str = "") -> None:
        """Mark the kind as complete at `as_of`. It is due again after its interval, plus or minus 10 %.

        A list of many pages is read less often, so that it takes about fifty calls an hour at most.
        """
        spread = random.uniform(0.9, 1.1)  # noqa: S311 - spreads tenants over time
        every = MirrorState.objects.values_list("every", flat=True).get(pk=self.state_id) or READ_INTERVALS[self.kind]
        wait = spread * max(every, pages * _SECONDS_A_PAGE)
        counted = {} if total is None else {"total": total}
        error_at = ClockTime() if error else None
        counted |= {"awaited": False}
        self._release(timedelta(seconds=wait), as_of=as_of, error=error, error_at=error_at, failures=0, **counted)

    def pause(self, until: datetime, **values: object) -> None:
        """Release the lease without an error; the kind is due again at `until`."""
        self._own_row().update(lease=None, lease_until=None, due_at=until, rung_at=None, **values)

    def fail(self, reason: str, *, wait: timedelta | None = None) -> None:
        """Store the reason and release the lease. The next try is after `wait`, else after 1, 2, 4, … 60 minutes."""
        failures = MirrorState.objects.values_list("failures", flat=True).get(pk=self.state_id)
        wait = wait or min(timedelta(minutes=2 ** min(failures, 6)), _LONGEST_PAUSE)
        self._release(wait, error=reason[:60], error_at=ClockTime(), failures=F("failures") + 1)

    def stop_after(self, error: ServiceError, *, wait: timedelta | None = None) -> None:
        """Pause until calls are free again if they are used up; else fail with the reason. `wait` is as in `fail`."""
        until = failure_reasons.paused_until(error, database_now())
        if until is not None:
            self.pause(until)
        else:
            self.fail(failure_reasons.reason_of(error), wait=wait or failure_reasons.retry_delay_after(error))

    def _own_row(self) -> QuerySet[MirrorState]:
        """Return the state's row, or no row if the lease was lost."""
        return MirrorState.objects.filter(pk=self.state_id, lease=self.token)

    def _release(self, wait: timedelta, **values: object) -> None:
        if not self._own_row().update(
            lease=None, lease_until=None, due_at=ClockTime() + Value(wait), rung_at=None, **values
        ):
            raise LeaseLost(self.kind)


def claim_lease(kind: MirrorKind) -> MirrorLease | None:
    """Claim a kind of the entered tenant. Return None if it is not due or another worker has its lease."""
    token = uuid.uuid4()
    free = MirrorState.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=ClockTime()), kind=kind, due_at__lte=ClockTime()
    )
    if not free.update(lease=token, lease_until=ClockTime() + Value(LEASE_DURATION)):
        return None
    state_id, awaited = MirrorState.objects.values_list("pk", "awaited").get(lease=token)
    return MirrorLease(state_id, kind, token, awaited)


def may_read_on(connection: Connection, lease: MirrorLease) -> bool:
    """Return whether more than one page of the log may be read now.

    If a person waits for the log, all free calls may be used; else calls up to MAX_SHARE_FOR_WATCHED of the hour.
    """
    hour = ledger.read_gauge(connection, CallClass.GENERAL)
    return hour.has_room_for(Priority.AWAITED) and (lease.is_awaited or hour.used < hour.limit * MAX_SHARE_FOR_WATCHED)


def has_calls_for_log(connection: Connection) -> bool:
    """Return whether calls are free for the log."""
    return ledger.read_gauge(connection, CallClass.GENERAL).has_room_for(Priority.AWAITED)


def has_calls_for_sync(connection: Connection, share: float, *, min_free_share: float = 0.0) -> bool:
    """Return whether sync may make calls: it has used less than `share` of its part, and enough of the hour is free.

    `min_free_share`: the part of all the hour's calls that must be unused.
    """
    hour = ledger.read_gauge(connection, CallClass.GENERAL)
    spent = hour.used_by(Priority.SYNC)
    return spent < hour.limit * MAX_SHARE_FOR_SYNC * share and hour.limit - hour.used >= hour.limit * min_free_share


@dataclass
class CallShare:
    """A part of sync's calls for work that takes many calls.

    It checks the ledger again after a quarter of the calls that were left, because other workers use calls too. The
    service may also change the limit. The last calls are checked one by one.
    """

    connection: Connection
    fraction: float
    is_bounded: bool = True
    _calls_until_check: int = 0

    def may_read_on(self) -> bool:
        """Count one call and return whether another may be made."""
        if not self.is_bounded:
            return True
        self._calls_until_check -= 1
        if self._calls_until_check > 0:
            return True
        hour = ledger.read_gauge(self.connection, CallClass.GENERAL)
        left = ceil(hour.limit * MAX_SHARE_FOR_SYNC * self.fraction) - hour.used_by(Priority.SYNC)
        self._calls_until_check = left // 4
        return left > 0
