"""When what is read: the timers stand in MirrorState, a timer rings for what is due, and anybody may ask for more."""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest

from portal.core.mirror.kinds import MirrorKind
from portal.core.mirror.models import MirrorState, SharedReading, SyncRun
from portal.core.restore import marking
from portal.core.timers import timer_registry
from portal.core.timers.clock import ClockTime
from portal.core.timers.task_queue import enqueue_after_commit
from portal.core.timers.timer_registry import TaskWakeup
from tenants.models import Connection, Tenant, current_tenant
from tenants.scope import across_tenants, tenant_scope

log = structlog.get_logger(__name__)

# A bell that nobody answered is rung again after this long: work resumes within half a minute of a broker's loss.
RING_AGAIN = timedelta(seconds=20)
_EXPIRES = RING_AGAIN.total_seconds()
_SYNC = "portal.core.mirror.tasks.sync"
# Asking twice within this time is asking once: the answer would be the same, and costs calls.
FRESH_ENOUGH = timedelta(seconds=10)
_MAX_TENANTS = 1000
# An answer that was shared is good for a moment; after this long nobody waits for it any more.
_EXPIRED_AFTER = timedelta(seconds=10)
# A list that could not be read is not tried again earlier than this because somebody waits for it.
_RETRY_AFTER_ERROR = timedelta(minutes=1)


def on_connected(sender: Any, *, connection: Connection, **more: Any) -> None:
    """Receiver of tenants.signals.connected: read everything, now."""
    schedule_all(connection.tenant)


def schedule_all(tenant: Tenant) -> None:
    """Make every kind of a tenant due now, whatever went wrong before."""
    with tenant_scope(tenant):
        MirrorState.objects.bulk_create([MirrorState(kind=kind) for kind in MirrorKind], ignore_conflicts=True)
        MirrorState.objects.update(due_at=ClockTime(), rung_at=ClockTime(), error="", error_at=None, failures=0)
    enqueue_after_commit(_SYNC, tenant.pk, expires=_EXPIRES)


def request_reading(tenant: Tenant, kind: MirrorKind, *, by: Any) -> bool:
    """Somebody wants a kind read again now. False when it was read a moment ago, or is being read."""
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
    """Somebody asked for more of a kind: its turn comes at once, or after the one that is under way."""
    MirrorState.objects.filter(kind=kind).update(due_at=ClockTime(), rung_at=ClockTime(), awaited=True)
    enqueue_after_commit(_SYNC, tenant.pk, expires=_EXPIRES)


def request_reading_since(tenant: Tenant, kind: MirrorKind, since: datetime) -> datetime | None:
    """When the last complete reading of a kind began, if that was at `since` or later.

    None otherwise, and then such a reading is on the timer: one for all who wait, however often they ask, not before
    `since`, and not in the way of one that is still going on. It has calls before those that nobody waits for: one
    that waits for calls goes on with them, once.
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


def _due() -> QuerySet[MirrorState]:
    """What somebody should read now and nobody was lately told of."""
    return _overdue().filter(Q(rung_at=None) | Q(rung_at__lt=ClockTime() - RING_AGAIN))


def _overdue() -> QuerySet[MirrorState]:
    """What should be read now, whether it was rung for or not, and is not being read."""
    now = ClockTime()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    connected = MirrorState.objects_across_tenants.filter(tenant__connection__state=Connection.State.CONNECTED)
    return connected.filter(free, due_at__lte=now)


def _expired_readings() -> QuerySet[SharedReading]:
    """Answers that nobody waits for any more."""
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
    """Ring for every connected tenant with something due; how many that were. Answers nobody waits for any more go."""
    with across_tenants("the timers of all tenants are looked at together"):
        _expired_readings().delete()
    return DUE.check_due()


def due_rows() -> list[QuerySet[Any]]:
    return [_due(), _expired_readings()]


def _lag() -> list[QuerySet[MirrorState]]:
    return [_overdue().order_by("due_at")]


def _reload_after_restore(found_at: datetime) -> int:
    """Read everything of the tenant anew: what this database holds is as old as the backup."""
    tenant = current_tenant()
    connected = Connection.objects.filter(state=Connection.State.CONNECTED).exists()
    if connected:
        schedule_all(tenant)
    return int(connected)


def register() -> None:
    marking.register("lists", _reload_after_restore)
    timer_registry.register("mirror", check_due, every=5.0, queue="sync", due_rows=due_rows, lag_rows=_lag)
