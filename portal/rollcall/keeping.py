"""Letting old roll calls go: they name people and where they were, and are kept no longer than the log is."""

from django.db.models import QuerySet

from portal.core.mirror.log_partitions import RETENTION
from portal.core.timers.clock import ClockTime
from portal.rollcall.models import RollCall


def old_roll_calls() -> list[QuerySet[RollCall]]:
    """Return the roll calls that began before what the log keeps. Their lists and ticks go with them."""
    return [RollCall.objects_across_tenants.filter(started_at__lt=ClockTime() - RETENTION)]
