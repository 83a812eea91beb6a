"""What the platform's page says of the clock."""

from datetime import timedelta
from typing import Any

from django import template

from portal.core.timers import lag, leader_lease
from portal.core.timers.clock import database_now

register = template.Library()

# A clock that leads ticks each second; another that follows a silent one begins after the lease.
_STOPPED = timedelta(seconds=leader_lease.LEASE_SECONDS + 5)


@register.inclusion_tag("timers/clock.html")
def clock_state() -> dict[str, Any]:
    """Show that the clock stands, else which timers are late, else when it last ticked."""
    now, tick = database_now(), leader_lease.last_tick()
    if tick is None or now - tick > _STOPPED:
        return {"tick": tick, "is_stopped": True}
    late = [(each.name, now - timedelta(seconds=each.seconds)) for each in lag.lags() if each.is_late]
    return {"tick": tick, "late": late, "age": max(int((now - tick).total_seconds()), 0)}
