"""How many cases tests try: `make soak` has no limit, each other run stays under five minutes."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

SOAK = bool(os.environ.get("SOAK"))


def examples(thorough: int, *, quick: int = 0) -> int:
    """Return how many generated examples to run: all of them in a soak, `quick` otherwise."""
    return thorough if SOAK else quick or min(25, thorough)


def one_in(share: int, values: Iterable[Any]) -> list[Any]:
    """Return values for `parametrize`: a quick run tries one in `share` of them, `make soak` the others."""
    return [
        value if not number % share else pytest.param(*_several(value), marks=pytest.mark.soak)
        for number, value in enumerate(values)
    ]


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
