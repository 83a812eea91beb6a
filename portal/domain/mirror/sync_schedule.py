"""The schedule of readings: due times are in MirrorState, a timer starts due readings, and pages can request more."""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest

from portal.base.timers.clock import ClockTime
from portal.base.timers.task_queue import enqueue_after_commit
from portal.base.timers.timer_registry import TaskWakeup
from portal.domain.mirror import failure_reasons
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import MirrorState, SharedReading, SyncRun
from tenants.models import Connection, Tenant, current_tenant
from tenants.scope import across_tenants, tenant_scope

log = structlog.get_logger(__name__)

# A task that no worker ran is started again after this time, so that work continues soon after a failure of the broker.
RING_AGAIN = timedelta(seconds=20)
_EXPIRES = RING_AGAIN.total_seconds()
_SYNC = "portal.domain.mirror.tasks.sync"
# A second request within this time starts no reading, to save calls.
FRESH_ENOUGH = timedelta(seconds=10)
_MAX_TENANTS = 1000
# Shared responses are deleted after this time, when no request waits for them any more.
_EXPIRED_AFTER = timedelta(seconds=10)
# After an error, a list is not read again before this time, even if a person waits for it.
_RETRY_AFTER_ERROR = timedelta(minutes=1)
_NO_CALLS = (failure_reasons.NO_CALLS, "no_calls")  # reserved for others, or refused by the service
# A name in the memory of a kind's state: when calls are expected to be free, while the kind waits for them.
RESUMES_AT = "goes_on_at"


def on_connected(sender: Any, *, connection: Connection, **more: Any) -> None:
    """Schedule a reading of all kinds at once. Receives tenants.signals.connected."""
    schedule_all(connection.tenant)


def schedule_all(tenant: Tenant) -> None:
    """Make every kind of a tenant due now and clear earlier errors."""
    with tenant_scope(tenant):
        MirrorState.objects.bulk_create([MirrorState(kind=kind) for kind in MirrorKind], ignore_conflicts=True)
        MirrorState.objects.update(due_at=ClockTime(), rung_at=ClockTime(), error="", error_at=None, failures=0)
    enqueue_after_commit(_SYNC, tenant.pk, expires=_EXPIRES)


def request_reading(tenant: Tenant, kind: MirrorKind, *, by: Any) -> bool:
    """Request a reading of a kind now. Return False if it was read a moment ago or is being read."""
    awaited = {"awaited": True} if by is not None else {}
    with tenant_scope(tenant):
        states = MirrorState.objects.filter(kind=kind, lease_until__isnull=True)
        older = states.exclude(as_of__gt=ClockTime() - FRESH_ENOUGH)
        asked = older.update(due_at=ClockTime(), rung_at=ClockTime(), **awaited)
    if asked:
        log.info("mirror_refresh_asked", tenant_id=tenant.pk, kind=str(kind), by=getattr(by, "pk", None))
        enqueue_after_commit(_SYNC, tenant.pk, expires=_EXPIRES)
    return bool(asked)


def request_more(tenant: Tenant, kind: MirrorKind) -> None:
    """Request a turn of a kind at once, or right after the one in progress, because there is more to read."""
    MirrorState.objects.filter(kind=kind).update(due_at=ClockTime(), rung_at=ClockTime(), awaited=True)
    enqueue_after_commit(_SYNC, tenant.pk, expires=_EXPIRES)


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
        soonest = Greatest(ClockTime(), Value(since), F("error_at") + Value(_RETRY_AFTER_ERROR))
        later = MirrorState.objects.filter(kind=kind, lease_until__isnull=True, due_at__gt=soonest)
        if SyncRun.objects.filter(kind=kind, state=SyncRun.State.RUNNING).exists():
            later = later.filter(awaited=False)
        if later.update(due_at=soonest, rung_at=None, awaited=True):
            log.info("mirror_reading_needed", tenant_id=tenant.pk, kind=str(kind))
            enqueue_after_commit(_SYNC, tenant.pk, expires=_EXPIRES)
    return None


def next_read_at(state: MirrorState) -> datetime | None:
    """Return when a kind is read next; while it waits for calls, when calls are expected to be free."""
    told = state.memory.get(RESUMES_AT) if state.error in _NO_CALLS else None
    return datetime.fromisoformat(told) if told else state.due_at


def _due() -> QuerySet[MirrorState]:
    """Return the overdue states for which no task was started lately."""
    return _overdue().filter(Q(rung_at=None) | Q(rung_at__lt=ClockTime() - RING_AGAIN))


def _overdue() -> QuerySet[MirrorState]:
    """Return the states of connected tenants that are due and not being read."""
    now = ClockTime()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    connected = MirrorState.objects_across_tenants.filter(tenant__connection__state=Connection.State.CONNECTED)
    return connected.filter(free, due_at__lte=now)


def _expired_readings() -> QuerySet[SharedReading]:
    """Return the shared responses for which no request waits any more."""
    return SharedReading.objects_across_tenants.filter(until__lt=ClockTime() - _EXPIRED_AFTER)


DUE = TaskWakeup(
    rows=_due,
    task=_SYNC,
    claim_values=lambda: {"rung_at": ClockTime()},
    id_columns=("tenant_id",),
    batch_size=_MAX_TENANTS * len(MirrorKind),
    expires=_EXPIRES,
)


def check_due() -> int:
    """Start a task for every connected tenant with due kinds and return their number. Delete old shared responses."""
    with across_tenants("the timers of all tenants are looked at together"):
        _expired_readings().delete()
    return DUE.check_due()


def due_rows() -> list[QuerySet[Any]]:
    return [_due(), _expired_readings()]


def overdue_rows() -> list[QuerySet[MirrorState]]:
    return [_overdue().order_by("due_at")]


def reload_after_restore(found_at: datetime) -> int:
    """Schedule a reading of all kinds, because the restored data is as old as the backup."""
    tenant = current_tenant()
    connected = Connection.objects.filter(state=Connection.State.CONNECTED).exists()
    if connected:
        schedule_all(tenant)
    return int(connected)
