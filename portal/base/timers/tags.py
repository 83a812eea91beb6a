"""The state of the clock on the platform's page."""

from datetime import timedelta
from typing import Any

from django import template

from portal.base.timers import beat, timer_registry
from portal.base.timers.clock import database_now

register = template.Library()

# A leading clock ticks each second. After a crash, another one leads when the lease has ended.
_STOPPED = timedelta(seconds=beat.LEASE_SECONDS + 5)


@register.inclusion_tag("timers/clock.html")
def clock_state() -> dict[str, Any]:
    """Show that the clock has stopped, or which timers are late, or when it last ticked."""
    now, tick = database_now(), beat.last_tick()
    if tick is None or now - tick > _STOPPED:
        return {"tick": tick, "is_stopped": True}
    late = [(each.name, now - timedelta(seconds=each.seconds)) for each in timer_registry.lags() if each.is_late]
    return {"tick": tick, "late": late, "age": max(int((now - tick).total_seconds()), 0)}
