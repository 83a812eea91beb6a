"""The Celery task that reads a tenant's due kinds, one after the other.

Timers and progress are stored in PostgreSQL; the task only starts a check.
"""

import time
from collections.abc import Callable
from typing import Any

import structlog
from django.db.models import QuerySet

from portal.base.timers.clock import ClockTime
from portal.base.timers.timer_registry import Process
from portal.domain.events import SYNCED_KINDS, MirrorKind
from portal.domain.sync import long_lists, schedule, single_reads, small_lists
from portal.domain.sync.models import MirrorState
from portal.domain.sync.schedule import LeaseLost, MirrorLease, claim_lease
from tenants.connections.service_clients import current_connection
from tenants.models import Connection
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)

# No further kind is started after this many seconds. It stays due, and the task is started again for it.
_MAX_SECONDS = 120

Reader = Callable[[Connection, MirrorLease], None]
_readers: dict[MirrorKind, Reader] = {
    MirrorKind.MEMBERS: long_lists.advance,
    MirrorKind.GUESTS: long_lists.advance,
    MirrorKind.TENANT: small_lists.sync_tenant,
    MirrorKind.RIGHTS: single_reads.read_in_background,
}


def register_reader(kind: MirrorKind, read: Reader) -> None:
    """Register the function that reads a due kind for one turn, instead of `small_lists.sync_list`."""
    _readers[kind] = read


def read_due() -> None:
    """Read the due kinds of the entered tenant, if it is connected. Parallel callers do not read a kind twice."""
    connection = current_connection()
    if not connection.is_connected:
        return
    begun = time.monotonic()
    for kind in _ordered_kinds():
        if time.monotonic() - begun < _MAX_SECONDS:
            _read(connection, kind)


def _ordered_kinds() -> list[MirrorKind]:
    """Return the kinds in order of reading. The log is first, but its first reading waits for all lists."""
    kinds = [*SYNCED_KINDS, MirrorKind.RIGHTS]
    known = MirrorState.objects.filter(kind=MirrorKind.HISTORIES, as_of__isnull=False).exists()
    return sorted(kinds, key=lambda kind: kind != MirrorKind.HISTORIES) if known else kinds


def _read(connection: Connection, kind: MirrorKind) -> None:
    lease = claim_lease(kind)
    if lease is None:
        return
    try:
        _readers.get(kind, small_lists.sync_list)(connection, lease)
    except LeaseLost:
        log.info("mirror_lease_lost", kind=str(kind))
    except Exception:
        lease.fail("internal")
        raise


LISTS = Process(
    name="mirror",
    rows=schedule.due_states,
    step=read_due,
    queue="sync",
    every=5.0,
    seconds=280,
    is_per_row=False,
    claim_values=lambda: {"woken_at": ClockTime()},
    batch_size=schedule.MAX_TENANTS * len(MirrorKind),
    expires=schedule.WAKE_AGAIN.total_seconds(),
)


def check_due() -> int:
    """Start a task for every connected tenant with due kinds and return their number. Delete old shared responses."""
    with across_tenants("the timers of all tenants are looked at together"):
        schedule.expired_readings().delete()
    return LISTS.check_due()


def due_rows() -> list[QuerySet[Any]]:
    return [schedule.due_states(), schedule.expired_readings()]
