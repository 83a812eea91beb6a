"""One clock for everything in the sandbox, and how times look on the wire."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone

#: The specification fixes the offset of every datetime at +09:00 (Common conventions).
SERVICE_ZONE = timezone(timedelta(hours=9))

_shift: ContextVar[float] = ContextVar("seconds by which the clock was moved", default=0.0)


def now() -> datetime:
    """Return the current time in the service's zone, by the clock of the tenant being served. Nothing else in the
    sandbox may ask for the time.
    """
    return datetime.now(SERVICE_ZONE) + timedelta(seconds=_shift.get())


@contextmanager
def shifted(seconds: float) -> Iterator[None]:
    """Set the clock `seconds` after (before, if negative) the real one for the length of the block."""
    token = _shift.set(seconds)
    try:
        yield
    finally:
        _shift.reset(token)


def format_moment(moment: datetime) -> str:
    """Return the time as `YYYY-MM-DDThh:mm:ss+09:00`, without fractions."""
    return moment.astimezone(SERVICE_ZONE).isoformat(timespec="seconds")
