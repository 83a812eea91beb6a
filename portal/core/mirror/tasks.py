"""The mirror's task: a tenant's due kinds, read one after the other by whoever was woken.

Timers and progress stand in PostgreSQL; the task only says that somebody should look.
"""

import time

import structlog

from portal.core.mirror import histories, rights, runs, small
from portal.core.mirror.kinds import SYNCED, Kind
from portal.core.mirror.leases import LeaseLost, claim
from portal.core.mirror.models import MirrorState
from portal.site.celery import promised
from tenants.connections.service import current_connection
from tenants.models import Connection
from tenants.scope import tenant_scope

log = structlog.get_logger(__name__)

# Seconds after which nothing more is begun: what is due stays so, and is rung for again.
_LONGEST_TURN = 120

_READERS = {
    Kind.MEMBERS: runs.advance,
    Kind.GUESTS: runs.advance,
    Kind.TENANT: small.read_tenant,
    Kind.HISTORIES: histories.advance,
    Kind.RIGHTS: rights.fill,
}


@promised(queue="sync", promise="idempotent", seconds=280)
def sync(tenant_id: int) -> None:
    with tenant_scope(tenant_id):
        read_due()


def read_due() -> None:
    """Read what is due of the entered tenant, if it is connected. Any number of callers at once read nothing twice."""
    connection = current_connection()
    if not connection.is_connected:
        return
    begun = time.monotonic()
    for kind in _order():
        if time.monotonic() - begun < _LONGEST_TURN:
            _read(connection, kind)


def _order() -> list[Kind]:
    """Return what is read first: the log, as soon as it was read once; its first reading waits for all lists."""
    kinds = [*SYNCED, Kind.RIGHTS]
    known = MirrorState.objects.filter(kind=Kind.HISTORIES, as_of__isnull=False).exists()
    return sorted(kinds, key=lambda kind: kind != Kind.HISTORIES) if known else kinds


def _read(connection: Connection, kind: Kind) -> None:
    lease = claim(kind)
    if lease is None:
        return
    try:
        _READERS.get(kind, small.read)(connection, lease)
    except LeaseLost:
        log.info("mirror_lease_lost", kind=str(kind))
    except Exception:
        lease.failed("internal")
        raise
