"""Pauses between two looks or tries, all shortened by one setting.

Only what is waited for without any promise comes from here. Deadlines, and how long claims and leases hold, do not:
with those shortened, something could be sent late or twice.
"""

from datetime import timedelta

from django.conf import settings

# The pace of the quickest timer: with less, the database would be asked more often and not earlier.
_SHORTEST = 0.25


def scaled_seconds(usual: float) -> float:
    """Return the share of so many seconds that `PORTAL_PAUSES` names: all of them in production."""
    return min(float(usual), max(usual * settings.PAUSES, _SHORTEST))


def scaled_pause(usual: float) -> timedelta:
    """Return the same as a timedelta."""
    return timedelta(seconds=scaled_seconds(usual))
