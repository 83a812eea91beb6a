"""Pauses between two checks or tries, all scaled by one setting.

Use them only for waits without any guarantee. Deadlines, claims and leases must not be scaled: something could be sent
late or twice.
"""

from datetime import timedelta

from django.conf import settings

# The interval of the fastest timer. Shorter pauses would query the database more often without any gain.
_SHORTEST = 0.25


def scaled_seconds(usual: float) -> float:
    """Return these seconds times `PORTAL_PAUSES`, which is 1 in production."""
    return min(float(usual), max(usual * settings.PAUSES, _SHORTEST))


def scaled_pause(usual: float) -> timedelta:
    """Return the scaled seconds as a timedelta."""
    return timedelta(seconds=scaled_seconds(usual))
