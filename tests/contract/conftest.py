"""Tenants of the run's one sandbox, each behind a proxy of its own."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract import lab
from tests.contract.trial import Trial
from tests.support.sandbox import Sandbox


@pytest.fixture(autouse=True)
def quick_to_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else is at work on these tenants."""
    monkeypatch.setattr(lab, "PAUSES", [0.01])


@pytest.fixture(scope="module")
def trials(sandbox: Sandbox) -> Iterator[Callable[..., Trial]]:
    """`trials(members=5)`: another tenant."""
    with contextlib.ExitStack() as stack:

        def make(**wanted: Any) -> Trial:
            trial = Trial(sandbox, **wanted)
            stack.enter_context(trial.proxy)
            return trial

        yield make
