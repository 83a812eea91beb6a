"""When what is read: the timers stand in MirrorState, the tick rings for what is due, and anybody may ask for more."""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest
from kombu.exceptions import OperationalError

from portal.core.mirror.clock import ClockNow
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState, SharedReading, SyncRun
from tenants.models import Connection, Tenant
from tenants.scope import across_tenants, tenant_scope

log = structlog.get_logger(__name__)

# A bell that nobody answered is rung again after this long: work resumes within half a minute of a broker's loss.
RING_AGAIN = timedelta(seconds=20)
# Asking twice within this time is asking once: the answer would be the same, and costs calls.
FRESH_ENOUGH = timedelta(seconds=10)
_AT_ONCE = 1000
# An answer that was shared is good for a moment; after this long nobody waits for it any more.
_FORGET = timedelta(seconds=10)
# A list that could not be read is not tried again earlier than this because somebody waits for it.
_AFTER_TROUBLE = timedelta(minutes=1)


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


def work() -> list[QuerySet[Any]]:
    """The rows of which one is enough for a tick. Call inside `across_tenants`."""
    return [_due(), _long_read()]


def tick() -> int:
    """Ring for every connected tenant with something due; how many that were. Called every few seconds."""
    with across_tenants("the timers of all tenants are looked at together"), transaction.atomic():
        locked = _due().order_by("due_at").select_for_update(of=("self",), skip_locked=True)
        due = list(locked.values_list("pk", "tenant_id")[: _AT_ONCE * len(Kind)])
        if due:
            MirrorState.objects_across_tenants.filter(pk__in=[pk for pk, _tenant in due]).update(rung_at=ClockNow())
        _long_read().delete()
    tenant_ids = list(dict.fromkeys(tenant_id for _pk, tenant_id in due))
    _ring(tenant_ids)
    return len(tenant_ids)


def _due() -> QuerySet[MirrorState]:
    """What somebody should read now and nobody was lately told of."""
    now = ClockNow()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    unrung = Q(rung_at=None) | Q(rung_at__lt=now - RING_AGAIN)
    connected = MirrorState.objects_across_tenants.filter(tenant__connection__state=Connection.State.CONNECTED)
    return connected.filter(free, unrung, due_at__lte=now)


def _long_read() -> QuerySet[SharedReading]:
    """Answers that nobody waits for any more."""
    return SharedReading.objects_across_tenants.filter(until__lt=ClockNow() - _FORGET)


def _ring_after_commit(tenant_id: int) -> None:
    transaction.on_commit(lambda: _ring([tenant_id]))


def _ring(tenant_ids: list[int]) -> None:
    """Wake workers, over one connection to the broker. What a dead broker does not take, the tick rings for again."""
    from portal.core.mirror import tasks
    from portal.site.celery import app

    if not tenant_ids:
        return
    try:
        with app.producer_or_acquire() as producer:
            for tenant_id in tenant_ids:
                tasks.sync.apply_async((tenant_id,), producer=producer, expires=RING_AGAIN.total_seconds())
    except (OperationalError, OSError):
        log.warning("mirror_bell_lost", tenants=len(tenant_ids))
