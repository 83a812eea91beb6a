"""The one clock of the sandbox, and the format of times in JSON."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone

#: The specification fixes the offset of every datetime at +09:00 (Common conventions).
SERVICE_ZONE = timezone(timedelta(hours=9))

_shift: ContextVar[float] = ContextVar("seconds by which the clock was moved", default=0.0)


def now() -> datetime:
    """Return the current time in the service's zone, by the current tenant's clock.

    Nothing else in the sandbox may read the time.
    """
    return datetime.now(SERVICE_ZONE) + timedelta(seconds=_shift.get())


@contextmanager
def shifted(seconds: float) -> Iterator[None]:
    """Set the clock `seconds` after (before, if negative) the real one within the block."""
    token = _shift.set(seconds)
    try:
        yield
    finally:
        _shift.reset(token)


def format_moment(moment: datetime) -> str:
    """Return the time as `YYYY-MM-DDThh:mm:ss+09:00`, without fractions."""
    return moment.astimezone(SERVICE_ZONE).isoformat(timespec="seconds")
