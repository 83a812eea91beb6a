"""Room for the frames of deep calls, for the site, the sandbox and tests alike.

CPython 3.11 and 3.12 keep frames in pieces of 16 KB, and give a piece back to the system when a call returns out of it.
Where a loop calls across the end of a piece, each call asks the system for memory and returns it: a fifth of the time
of a page, which is some 150 frames deep. A frame that needs more gets a larger piece, and those that it calls fill it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

# Values of 8 bytes that the frame asks for. A piece is a power of two, here of 512 KB: half of it is left for others,
# and memory that no frame fills is never touched.
_STACK_VALUES = 33_000


def with_stack_memory(function: F) -> F:
    """Return the function with room for the frames of what it calls, some 800 of them."""

    def roomy(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    roomy.__code__ = roomy.__code__.replace(co_stacksize=_STACK_VALUES)
    return cast(F, wraps(function, updated=())(roomy))
