"""`with_stack_memory` does not change a function, and makes its calls cost the same at any depth."""

import resource
import threading
from collections.abc import Callable

import pytest

from accessapi.stack_memory import with_stack_memory


@with_stack_memory
def add(one: int, *, other: int) -> int:
    """Add."""
    return one + other


def shallow() -> int:
    return abs(one())


def one() -> int:
    return 1


def call_from(depth: int) -> None:
    if depth:
        call_from(depth - 1)
    else:
        for _ in range(100):
            shallow()


def faults(work: Callable[[], None]) -> int:
    """Return how many page faults a new thread has while it runs `work`."""
    counted = []

    def count() -> None:
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        work()
        counted.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)

    thread = threading.Thread(target=count)
    thread.start()
    thread.join()
    return counted[0]


def call_from_all_depths() -> None:
    for depth in range(300):
        call_from(depth)


def test_a_function_with_room_takes_and_gives_what_it_did() -> None:
    assert add(1, other=2) == 3
    assert (add.__name__, add.__doc__) == ("add", "Add.")
    with pytest.raises(TypeError, match="positional"):
        add(1, 2)  # type: ignore[misc]


def test_calls_from_any_depth_ask_the_system_for_no_memory() -> None:
    assert faults(with_stack_memory(call_from_all_depths)) < 300
