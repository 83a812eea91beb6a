"""One worker at a time for each kind of a tenant, and its share of the hour: claimed by one UPDATE, fenced by a token.

A lease ends by itself when its worker dies. A worker that was only slow finds its token gone and stops: `renew` is
called in every transaction that writes.

Sync may spend a quarter of the hour's calls (`budget.priorities`). Of that quarter the trickle stops first, then a long
list; the rest is for whatever takes one call: the small lists, and the first page of the others. The log is not counted
there: it comes first, and spends what is free, as does a list that somebody waits for.
"""

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db.models import F, Q, QuerySet, Value

from accessapi.errors import ServiceError
from accessapi.operations import CallClass
from portal.core.budget import ledger
from portal.core.budget.priorities import MAX_SHARE_FOR_SYNC, MAX_SHARE_FOR_WATCHED, Priority
from portal.core.mirror import failure_reasons
from portal.core.mirror.kinds import READ_INTERVALS, MirrorKind
from portal.core.mirror.models import MirrorState
from portal.core.timers.clock import ClockTime, database_now
from tenants.models import Connection

LEASE_DURATION = timedelta(seconds=60)
_LONGEST_PAUSE = timedelta(hours=1)
_SECONDS_A_PAGE = 75

# The parts of sync's quarter at which each stops.
BACKGROUND_SHARE = 0.75
LONG_LIST_SHARE = 0.92


class LeaseLost(Exception):
    """Another worker took over; nothing more may be written by this one."""


@dataclass(frozen=True)
class MirrorLease:
    """A claimed kind of the entered tenant."""

    state_id: int
    kind: MirrorKind
    token: uuid.UUID
    is_awaited: bool = False

    @property
    def priority(self) -> Priority:
        """Return with which calls this is read."""
        return Priority.AWAITED if self.is_awaited or self.kind == MirrorKind.HISTORIES else Priority.SYNC

    def renew(self) -> None:
        """Prolong the lease and lock its row until the transaction ends. Raises LeaseLost."""
        if not self._own_row().update(lease_until=ClockTime() + Value(LEASE_DURATION)):
            raise LeaseLost(self.kind)

    def complete(self, *, as_of: datetime, total: int | None = None, pages: int = 1, error: str = "") -> None:
        """The kind is complete as of a moment: due again after its interval, give or take a tenth.

        A list of many pages is read less often, so that it never takes more than some fifty calls an hour.
        """
        spread = random.uniform(0.9, 1.1)  # noqa: S311 - spreads tenants over time
        every = MirrorState.objects.values_list("every", flat=True).get(pk=self.state_id) or READ_INTERVALS[self.kind]
        wait = spread * max(every, pages * _SECONDS_A_PAGE)
        counted = {} if total is None else {"total": total}
        error_at = ClockTime() if error else None
        counted |= {"awaited": False}
        self._release(timedelta(seconds=wait), as_of=as_of, error=error, error_at=error_at, failures=0, **counted)

    def pause(self, until: datetime, **values: object) -> None:
        """Nothing went wrong: go on at `until`."""
        self._own_row().update(lease=None, lease_until=None, due_at=until, rung_at=None, **values)

    def fail(self, reason: str, *, wait: timedelta | None = None) -> None:
        """Say why, and try again later: after `wait`, else after 1, 2, 4, … minutes, at most an hour."""
        failures = MirrorState.objects.values_list("failures", flat=True).get(pk=self.state_id)
        wait = wait or min(timedelta(minutes=2 ** min(failures, 6)), _LONGEST_PAUSE)
        self._release(wait, error=reason[:60], error_at=ClockTime(), failures=F("failures") + 1)

    def stop_after(self, error: ServiceError, *, wait: timedelta | None = None) -> None:
        """Go on when there are calls again, or say why nothing could be read; `wait` as in `fail`."""
        until = failure_reasons.paused_until(error, database_now())
        if until is not None:
            self.pause(until)
        else:
            self.fail(failure_reasons.reason_of(error), wait=wait or failure_reasons.retry_delay_after(error))

    def _own_row(self) -> QuerySet[MirrorState]:
        """Return the row as long as this lease holds it."""
        return MirrorState.objects.filter(pk=self.state_id, lease=self.token)

    def _release(self, wait: timedelta, **values: object) -> None:
        if not self._own_row().update(
            lease=None, lease_until=None, due_at=ClockTime() + Value(wait), rung_at=None, **values
        ):
            raise LeaseLost(self.kind)


def claim(kind: MirrorKind) -> MirrorLease | None:
    """The lease of a kind of the entered tenant that is due and that nobody holds; None otherwise."""
    token = uuid.uuid4()
    free = MirrorState.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=ClockTime()), kind=kind, due_at__lte=ClockTime()
    )
    if not free.update(lease=token, lease_until=ClockTime() + Value(LEASE_DURATION)):
        return None
    state_id, awaited = MirrorState.objects.values_list("pk", "awaited").get(lease=token)
    return MirrorLease(state_id, kind, token, awaited)


def may_read_on(connection: Connection, lease: MirrorLease) -> bool:
    """Whether the log may be read on beyond one page: as long as calls are free, or half of the hour, where nobody
    waits for it.
    """
    hour = ledger.read_gauge(connection, CallClass.GENERAL)
    return hour.has_room_for(Priority.AWAITED) and (lease.is_awaited or hour.used < hour.limit * MAX_SHARE_FOR_WATCHED)


def has_calls_for_log(connection: Connection) -> bool:
    """Whether calls are free for the log."""
    return ledger.read_gauge(connection, CallClass.GENERAL).has_room_for(Priority.AWAITED)


def has_calls_for_sync(connection: Connection, share: float, *, min_free_share: float = 0.0) -> bool:
    """Whether sync has spent less than `fraction` of its part, and more than `min_free_share` of the whole hour is
    unused."""
    hour = ledger.read_gauge(connection, CallClass.GENERAL)
    spent = hour.used_by(Priority.SYNC)
    return spent < hour.limit * MAX_SHARE_FOR_SYNC * share and hour.limit - hour.used >= hour.limit * min_free_share


@dataclass
class CallShare:
    """A part of sync's hour for work of many calls. Asks again before it has made a quarter of the calls that were left
    when it asked last: what others of sync spend meanwhile, and a kinder or stricter word of the service, comes to it
    in time, and the last calls are asked for one by one."""

    connection: Connection
    fraction: float
    is_bounded: bool = True
    _calls_until_check: int = 0

    def may_read_on(self) -> bool:
        """Whether, after one more call, another one may be made."""
        if not self.is_bounded:
            return True
        self._calls_until_check -= 1
        if self._calls_until_check > 0:
            return True
        hour = ledger.read_gauge(self.connection, CallClass.GENERAL)
        left = ceil(hour.limit * MAX_SHARE_FOR_SYNC * self.fraction) - hour.used_by(Priority.SYNC)
        self._calls_until_check = left // 4
        return left > 0
