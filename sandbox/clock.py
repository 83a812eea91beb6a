"""One clock for everything in the sandbox, and how moments look on the wire."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone

#: The specification fixes the offset of every datetime at +09:00 (Common conventions).
SERVICE_ZONE = timezone(timedelta(hours=9))

_moved: ContextVar[float] = ContextVar("seconds by which the clock was moved", default=0.0)


def now() -> datetime:
    """This moment in the service's zone, as the tenant that is served has it. Nothing in the sandbox asks the time
    anywhere else.
    """
    return datetime.now(SERVICE_ZONE) + timedelta(seconds=_moved.get())


@contextmanager
def moved(seconds: float) -> Iterator[None]:
    """Within: the clock stands `seconds` after (before, if negative) the real one."""
    token = _moved.set(seconds)
    try:
        yield
    finally:
        _moved.reset(token)


def wire(moment: datetime) -> str:
    """`YYYY-MM-DDThh:mm:ss+09:00`, without fractions."""
    return moment.astimezone(SERVICE_ZONE).isoformat(timespec="seconds")
