"""When what is read: the timers stand in MirrorState, the tick rings for what is due, and anybody may ask for more."""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import connection as database
from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest
from kombu.exceptions import OperationalError

from portal.mirror.clock import ClockNow
from portal.mirror.kinds import Kind
from portal.mirror.models import MirrorState, SyncRun
from tenants.models import Connection, Tenant
from tenants.scope import across_tenants, tenant_scope

log = structlog.get_logger(__name__)

# A bell that nobody answered is rung again after this long: work resumes within half a minute of a broker's loss.
RING_AGAIN = timedelta(seconds=20)
# Asking twice within this time is asking once: the answer would be the same, and costs calls.
FRESH_ENOUGH = timedelta(seconds=10)
_AT_ONCE = 1000
# A list that could not be read is not tried again earlier than this because somebody waits for it.
_AFTER_TROUBLE = timedelta(minutes=1)

_DUE = """
WITH due AS MATERIALIZED (
    SELECT s.id FROM mirror_mirrorstate s JOIN tenants_connection c ON c.tenant_id = s.tenant_id AND c.state = %s
    WHERE s.due_at <= clock_timestamp() AND (s.lease_until IS NULL OR s.lease_until < clock_timestamp())
    AND (s.rung_at IS NULL OR s.rung_at < clock_timestamp() - %s * interval '1 second')
    ORDER BY s.due_at LIMIT %s FOR UPDATE OF s SKIP LOCKED
) UPDATE mirror_mirrorstate m SET rung_at = clock_timestamp() FROM due WHERE m.id = due.id RETURNING m.tenant_id
"""


def on_connected(sender: Any, *, connection: Connection, **more: Any) -> None:
    """Receiver of tenants.signals.connected: read everything, now."""
    start(connection.tenant)


def start(tenant: Tenant) -> None:
    """Make every kind of a tenant due now, whatever went wrong before."""
    with tenant_scope(tenant):
        MirrorState.objects.bulk_create([MirrorState(kind=kind) for kind in Kind], ignore_conflicts=True)
        MirrorState.objects.update(due_at=ClockNow(), rung_at=ClockNow(), error="", error_at=None, failures=0)
    _ring_after_commit(tenant.pk)


def ask(tenant: Tenant, kind: Kind, *, by: Any) -> bool:
    """Somebody wants a kind read again now. False when it was read a moment ago, or is being read."""
    with tenant_scope(tenant):
        states = MirrorState.objects.filter(kind=kind, lease_until__isnull=True)
        asked = states.exclude(as_of__gt=ClockNow() - FRESH_ENOUGH).update(due_at=ClockNow(), rung_at=ClockNow())
    if asked:
        log.info("mirror_refresh_asked", tenant_id=tenant.pk, kind=str(kind), by=getattr(by, "pk", None))
        _ring_after_commit(tenant.pk)
    return bool(asked)


def read_since(tenant: Tenant, kind: Kind, since: datetime) -> datetime | None:
    """When the last complete reading of a kind began, if that was at `since` or later.

    None otherwise, and then such a reading is on the timer: one for all who wait, however often they ask, not before
    `since`, and not in the way of one that is still going on or waits for calls.
    """
    with tenant_scope(tenant):
        state = MirrorState.objects.filter(kind=kind).first()
        if state is not None and state.as_of is not None and state.as_of >= since:
            return state.as_of
        if SyncRun.objects.filter(kind=kind, state=SyncRun.State.RUNNING).exists():
            return None
        soonest = Greatest(ClockNow(), Value(since), F("error_at") + Value(_AFTER_TROUBLE))
        later = MirrorState.objects.filter(kind=kind, lease_until__isnull=True, due_at__gt=soonest)
        if later.update(due_at=soonest, rung_at=None):
            log.info("mirror_reading_needed", tenant_id=tenant.pk, kind=str(kind))
            _ring_after_commit(tenant.pk)
    return None


def tick() -> int:
    """Ring for every connected tenant with something due; how many that were. Called every few seconds."""
    with across_tenants("the timers of all tenants are looked at together"), database.cursor() as cursor:
        cursor.execute(_DUE, [Connection.State.CONNECTED, RING_AGAIN.total_seconds(), _AT_ONCE * len(Kind)])
        due = list(dict.fromkeys(tenant_id for (tenant_id,) in cursor.fetchall()))
        cursor.execute("DELETE FROM mirror_sharedreading WHERE until < clock_timestamp() - interval '10 seconds'")
    _ring(due)
    return len(due)


def _ring_after_commit(tenant_id: int) -> None:
    transaction.on_commit(lambda: _ring([tenant_id]))


def _ring(tenant_ids: list[int]) -> None:
    """Wake workers, over one connection to the broker. What a dead broker does not take, the tick rings for again."""
    from portal.celery import app
    from portal.mirror import tasks

    if not tenant_ids:
        return
    try:
        with app.producer_or_acquire() as producer:
            for tenant_id in tenant_ids:
                tasks.sync.apply_async((tenant_id,), producer=producer, expires=RING_AGAIN.total_seconds())
    except (OperationalError, OSError):
        log.warning("mirror_bell_lost", tenants=len(tenant_ids))
