"""Keeping the doors' status at a glance: each is read now and then, with device calls that nobody else wants.

A list has no statuses in it (specification, operation 25), and a reading costs one of 180 calls an hour. Watching takes
the share of sync at most, oldest reading first, and stops at once when the hour runs short.
"""

from datetime import timedelta

from django.db.models import F, Q
from django.utils import timezone

from accessapi.errors import NotFound, ServiceError
from portal.budget.ledger import BudgetExhausted
from portal.budget.priorities import Priority
from portal.mirror import reading
from portal.mirror.models import PassController
from tenants.models import Connection
from tenants.scope import across_tenants

STALE = timedelta(minutes=15)
# A door that was last seen unlocked has probably locked itself since: it is looked at again sooner.
STALE_UNLOCKED = timedelta(seconds=60)
_AT_ONCE = 20


def stale_tenants() -> list[int]:
    """Connected tenants with a door whose last reading is old."""
    with across_tenants("the watch looks for doors of every tenant"):
        connected = Connection.objects_across_tenants.filter(state=Connection.State.CONNECTED).values("tenant_id")
        doors = PassController.objects_across_tenants.filter(tenant_id__in=connected)
        return list(doors.filter(_stale()).values_list("tenant_id", flat=True).distinct())


def read_stale(tenant_id: int) -> int:
    """Read the stalest doors of the tenant in scope, within budget. Returns how many were read."""
    connection = Connection.objects.select_related("tenant__environment").filter(tenant=tenant_id).first()
    if connection is None or not connection.is_connected:
        return 0
    read = 0
    for device_id in _stalest():
        try:
            reading.door_status(connection, device_id, Priority.SYNC)
            read += 1
        except NotFound:
            continue
        except (BudgetExhausted, ServiceError):
            break
    return read


def _stale() -> Q:
    now = timezone.now()
    unlocked = Q(status__door_status__lock__in=["unlock", "unlocked"])
    return (
        Q(status_as_of__isnull=True)
        | Q(status_as_of__lt=now - STALE)
        | Q(unlocked, status_as_of__lt=now - STALE_UNLOCKED)
    )


def _stalest() -> list[str]:
    oldest_first = PassController.objects.filter(_stale()).order_by(F("status_as_of").asc(nulls_first=True), "pk")
    return list(oldest_first.values_list("device_id", flat=True)[:_AT_ONCE])
