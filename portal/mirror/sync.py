"""A tenant's due kinds, read one after the other by whoever was woken."""

import structlog

from portal.mirror import rights, runs, small
from portal.mirror.kinds import SYNCED, Kind
from portal.mirror.leases import LeaseLost, claim
from tenants.models import Connection

log = structlog.get_logger(__name__)


def due() -> None:
    """Read what is due of the entered tenant, if it is connected. Any number of callers at once read nothing twice."""
    connection = Connection.objects.select_related("tenant__environment", "environment").first()
    if connection is None or not connection.is_connected:
        return
    for kind in (*SYNCED, Kind.RIGHTS):
        _read(connection, kind)


def _read(connection: Connection, kind: Kind) -> None:
    lease = claim(kind)
    if lease is None:
        return
    reader = {Kind.MEMBERS: runs.advance, Kind.RIGHTS: rights.fill}.get(kind, small.read)
    try:
        reader(connection, lease)
    except LeaseLost:
        log.info("mirror_lease_lost", kind=str(kind))
    except Exception:
        lease.failed("internal")
        raise
