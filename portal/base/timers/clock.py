"""The database's clock, which all processes share, and pauses that one setting scales.

`Now()` is constant within a transaction; `ClockTime()` is not.

Scale only waits without any guarantee. Deadlines, claims and leases must not be scaled: something could be sent late or
twice.
"""

from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db import connection
from django.db.models import DateTimeField, Func


class ClockTime(Func):
    """`clock_timestamp()`: the moment at which the statement runs, even after it waited for a lock."""

    function = "clock_timestamp"
    template = "%(function)s()"
    output_field = DateTimeField()


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


# The interval of the fastest timer. Shorter pauses would query the database more often without any gain.
_SHORTEST = 0.25


def scaled_seconds(usual: float) -> float:
    """Return these seconds times `PORTAL_PAUSES`, which is 1 in production."""
    return min(float(usual), max(usual * settings.PAUSES, _SHORTEST))


def scaled_pause(usual: float) -> timedelta:
    """Return the scaled seconds as a timedelta."""
    return timedelta(seconds=scaled_seconds(usual))


Pause = TypeVar("Pause", float, timedelta)


def growing_pause(first: Pause, retries: int, longest: Pause, *, factor: float = 2.0) -> Pause:
    """Return the pause before the next try: `first`, and after each retry `factor` times as long, up to `longest`."""
    return min(first * factor ** min(max(retries, 0), 30), longest)
