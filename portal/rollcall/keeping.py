"""Letting old roll calls go: they name people and where they were, and are kept no longer than the log is."""

from portal.core.mirror.months import KEEP
from portal.core.timers.clock import database_now
from portal.rollcall.models import RollCall
from tenants.scope import across_tenants


def tidy() -> None:
    """Delete the roll calls, with their lists and ticks, that began before what the log keeps."""
    with across_tenants("roll calls of every tenant grow old"):
        RollCall.objects_across_tenants.filter(started_at__lt=database_now() - KEEP).delete()
