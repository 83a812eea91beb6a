"""Reserve memory for the frames of deep calls, for the site, the sandbox and tests.

CPython 3.11 and 3.12 keep frames in pieces of 16 KB, and free a piece when a call returns out of it. If a loop calls
across the end of a piece, each call allocates and frees memory: a fifth of the time of a page, which is some 150 frames
deep. A frame that needs more gets a larger piece, which the frames of its calls fill.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

# Values of 8 bytes that the frame requests. A piece is a power of two, here 512 KB: half of it is left for other
# frames, and unused memory is never touched.
_STACK_VALUES = 33_000


def with_stack_memory(function: F) -> F:
    """Return the function with memory for some 800 frames of its calls."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    wrapper.__code__ = wrapper.__code__.replace(co_stacksize=_STACK_VALUES)
    return cast(F, wraps(function, updated=())(wrapper))
