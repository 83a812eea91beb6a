"""Wait for a condition. The time limit only ends a failing test: the machine may be busy."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 120.0  # seconds: other programs may slow the machine down


def until(
    what: Callable[[], T], seconds: float = PATIENCE, *, saying: str | Callable[[], str] = "", pause: float = 0.02
) -> T:
    """Poll until `what` is truthy and return it. Raises AssertionError after `seconds`."""
    end = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > end:
            said = saying() if callable(saying) else saying
            raise AssertionError(f"not within {seconds:.0f} s: {said or what}")
        time.sleep(pause)
    return found
