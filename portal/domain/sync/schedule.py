"""The schedule of readings: due times, requests by pages, leases of workers, and the limits on API calls for sync.

Due times are in MirrorState, and a timer starts due readings. With a lease, one worker at a time reads a kind of a
tenant. A lease is claimed by one UPDATE and expires when its worker crashes. A worker that was only slow finds that its
token has changed and stops, because `renew` is called in every transaction that writes.

Sync may use a quarter of the hour's calls (`budget.priorities`). As these run out, background reads stop first, then
long lists. The rest is for readings of one call: small lists and first pages. The log, and a list that a person waits
for, have priority and may use all free calls.
"""

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

import structlog
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest

from accessapi.errors import ServiceError
from accessapi.operations import CallClass
from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime, database_now, growing_pause
from portal.domain.budget import ledger
from portal.domain.budget.priorities import MAX_SHARE_FOR_SYNC, MAX_SHARE_FOR_WATCHED, Priority
from portal.domain.events import READ_INTERVALS, MirrorKind
from portal.domain.sync import failure_reasons
from portal.domain.sync.models import MirrorState, SharedReading, SyncRun
from tenants.models import Connection, Tenant, current_tenant
from tenants.scope import tenant_scope

LEASE_DURATION = timedelta(seconds=60)
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
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
        self._own_row().update(lease=None, lease_until=None, due_at=until, woken_at=None, **values)

    def fail(self, reason: str, *, wait: timedelta | None = None) -> None:
        """Store the reason and release the lease. The next try is after `wait`, else after 1, 2, 4, … 60 minutes."""
        failures = MirrorState.objects.values_list("failures", flat=True).get(pk=self.state_id)
        wait = wait or growing_pause(_FIRST_PAUSE, failures, _LONGEST_PAUSE)
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
            lease=None, lease_until=None, due_at=ClockTime() + Value(wait), woken_at=None, **values
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


log = structlog.get_logger(__name__)

# A task that no worker ran is started again after this time, so that work continues soon after a failure of the broker.
WAKE_AGAIN = timedelta(seconds=20)
# A second request within this time starts no reading, to save calls.
FRESH_ENOUGH = timedelta(seconds=10)
MAX_TENANTS = 1000
# Shared responses are deleted after this time, when no request waits for them any more.
_EXPIRED_AFTER = timedelta(seconds=10)
# After an error, a list is not read again before this time, even if a person waits for it.
_RETRY_AFTER_ERROR = timedelta(minutes=1)
_NO_CALLS = (failure_reasons.NO_CALLS, "no_calls")  # reserved for others, or refused by the service
# A name in the memory of a kind's state: when calls are expected to be free, while the kind waits for them.
RESUMES_AT = "goes_on_at"


def on_connected(sender: Any, *, connection: Connection, **more: Any) -> None:
    """Schedule a reading of all kinds at once. Receives tenants.connections.oauth_grant.connected."""
    schedule_all(connection.tenant)


def schedule_all(tenant: Tenant) -> None:
    """Make every kind of a tenant due now and clear earlier errors."""
    with tenant_scope(tenant):
        MirrorState.objects.bulk_create([MirrorState(kind=kind) for kind in MirrorKind], ignore_conflicts=True)
        MirrorState.objects.update(due_at=ClockTime(), woken_at=ClockTime(), error="", error_at=None, failures=0)
    timer_registry.wake("mirror", tenant.pk)


def request_reading(tenant: Tenant, kind: MirrorKind, *, by: Any) -> bool:
    """Request a reading of a kind now. Return False if it was read a moment ago or is being read."""
    awaited = {"awaited": True} if by is not None else {}
    with tenant_scope(tenant):
        states = MirrorState.objects.filter(kind=kind, lease_until__isnull=True)
        older = states.exclude(as_of__gt=ClockTime() - FRESH_ENOUGH)
        requested = older.update(due_at=ClockTime(), woken_at=ClockTime(), **awaited)
    if requested:
        log.info("mirror_refresh_asked", tenant_id=tenant.pk, kind=str(kind), by=getattr(by, "pk", None))
        timer_registry.wake("mirror", tenant.pk)
    return bool(requested)


def request_more(tenant: Tenant, kind: MirrorKind) -> None:
    """Request a turn of a kind at once, or right after the one in progress, because there is more to read."""
    MirrorState.objects.filter(kind=kind).update(due_at=ClockTime(), woken_at=ClockTime(), awaited=True)
    timer_registry.wake("mirror", tenant.pk)


def request_reading_since(tenant: Tenant, kind: MirrorKind, since: datetime) -> datetime | None:
    """Return when the last complete reading of a kind began, if that was at `since` or later; else request one.

    Returns None while the reading is not complete. Repeated requests share one reading, which begins at `since` or
    later and does not disturb one in progress. It has priority for calls; a run that waits for calls continues at once,
    but only once.
    """
    with tenant_scope(tenant):
        state = MirrorState.objects.filter(kind=kind).first()
        if state is not None and state.as_of is not None and state.as_of >= since:
            return state.as_of
        earliest = Greatest(ClockTime(), Value(since), F("error_at") + Value(_RETRY_AFTER_ERROR))
        later = MirrorState.objects.filter(kind=kind, lease_until__isnull=True, due_at__gt=earliest)
        if SyncRun.objects.filter(kind=kind, state=SyncRun.State.RUNNING).exists():
            later = later.filter(awaited=False)
        if later.update(due_at=earliest, woken_at=None, awaited=True):
            log.info("mirror_reading_needed", tenant_id=tenant.pk, kind=str(kind))
            timer_registry.wake("mirror", tenant.pk)
    return None


def next_read_at(state: MirrorState) -> datetime | None:
    """Return when a kind is read next; while it waits for calls, when calls are expected to be free."""
    resumes_at = state.memory.get(RESUMES_AT) if state.error in _NO_CALLS else None
    return datetime.fromisoformat(resumes_at) if resumes_at else state.due_at


def due_states() -> QuerySet[MirrorState]:
    """Return the overdue states for which no task was started lately."""
    return _overdue().filter(Q(woken_at=None) | Q(woken_at__lt=ClockTime() - WAKE_AGAIN))


def _overdue() -> QuerySet[MirrorState]:
    """Return the states of connected tenants that are due and not being read."""
    now = ClockTime()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    connected = MirrorState.objects_across_tenants.filter(tenant__connection__state=Connection.State.CONNECTED)
    return connected.filter(free, due_at__lte=now)


def expired_readings() -> QuerySet[SharedReading]:
    """Return the shared responses for which no request waits any more."""
    return SharedReading.objects_across_tenants.filter(until__lt=ClockTime() - _EXPIRED_AFTER)


def overdue_rows() -> list[QuerySet[MirrorState]]:
    return [_overdue().order_by("due_at")]


def reload_after_restore(found_at: datetime) -> int:
    """Schedule a reading of all kinds, because the restored data is as old as the backup."""
    tenant = current_tenant()
    connected = Connection.objects.filter(state=Connection.State.CONNECTED).exists()
    if connected:
        schedule_all(tenant)
    return int(connected)
