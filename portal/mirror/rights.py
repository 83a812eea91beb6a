"""The trickle: who may pass where is told by single reads only, so calls that sync leaves over fill it in."""

from datetime import datetime, timedelta

from django.db.models import F

from accessapi.errors import NotFound, ServiceError
from portal.budget.priorities import Priority
from portal.mirror import clock, reading, reasons
from portal.mirror.kinds import EVERY, Kind
from portal.mirror.leases import Lease
from portal.mirror.models import Member, MirrorState
from portal.mirror.shares import used_up
from tenants.models import Connection

BATCH = 10
# Of sync's own share, the lists keep the rest to themselves.
SHARE = 0.7
# Permissions read this long ago are worth another call.
STALE = timedelta(days=1)
_REST = timedelta(hours=1)


def fill(connection: Connection, lease: Lease) -> None:
    """Read the members whose permissions are unknown, then those known longest; stop early when calls are short."""
    started = clock.now()
    members = _wanting(started - STALE)
    if not members:
        lease.pause(started + (_REST if Member.objects.exists() else timedelta(minutes=1)))
        return
    for member_id in members:
        if used_up(connection, SHARE):
            break
        try:
            reading.read_member(connection, member_id, Priority.SYNC)
        except NotFound:
            continue
        except ServiceError as error:
            _stop(lease, error)
            return
        lease.hold()
    lease.done(as_of=started, total=known())


def known() -> int:
    """How many of the entered tenant's members have permissions that were read."""
    return Member.objects.filter(rights_read_at__isnull=False, gone_at__isnull=True).count()


def _wanting(before: datetime) -> list[str]:
    if not MirrorState.objects.filter(kind=Kind.MEMBERS, as_of__isnull=False).exists():
        return []
    oldest = Member.objects.filter(gone_at__isnull=True).order_by(F("rights_read_at").asc(nulls_first=True))
    rows = oldest.values_list("member_id", "rights_read_at")[:BATCH]
    return [member_id for member_id, read_at in rows if read_at is None or read_at < before]


def _stop(lease: Lease, error: ServiceError) -> None:
    until = reasons.pause_of(error, clock.now())
    if until is not None:
        lease.pause(until)
    else:
        lease.failed(reasons.reason_of(error), wait=timedelta(seconds=4 * EVERY[Kind.RIGHTS]))
