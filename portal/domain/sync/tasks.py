"""The Celery task that reads a tenant's due kinds, one after the other.

Timers and progress are stored in PostgreSQL; the task only starts a check.
"""

import time
from collections.abc import Callable

import structlog

from portal.base.timers.celery_app import portal_task
from portal.domain.events import SYNCED_KINDS, MirrorKind
from portal.domain.sync import long_lists, single_reads, small_lists
from portal.domain.sync.models import MirrorState
from portal.domain.sync.schedule import LeaseLost, MirrorLease, claim_lease
from tenants.connections.service_clients import current_connection
from tenants.models import Connection
from tenants.scope import tenant_scope

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


@portal_task(queue="sync", promise="idempotent", seconds=280)
def sync(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        read_due()


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
