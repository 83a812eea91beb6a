"""Select old roll calls for deletion. They name people and places, and are kept as long as the log."""

from django.db.models import QuerySet

from portal.base.timers.clock import ClockTime
from portal.domain.mirror.log_partitions import RETENTION
from portal.rollcall.models import RollCall


def old_roll_calls() -> list[QuerySet[RollCall]]:
    """Return the roll calls that began before the log's retention. Their lists and ticks are deleted with them."""
    return [RollCall.objects_across_tenants.filter(started_at__lt=ClockTime() - RETENTION)]
