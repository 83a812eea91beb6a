"""Tenants of the run's one sandbox, each behind its own proxy."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract import lab
from tests.contract.trial import Trial
from tests.support.sandbox import Sandbox


@pytest.fixture(autouse=True)
def quick_to_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a difference again almost at once: no one else changes these tenants."""
    monkeypatch.setattr(lab, "PAUSES", [0.01])


@pytest.fixture(scope="module")
def trials(sandbox: Sandbox) -> Iterator[Callable[..., Trial]]:
    """Yield a function that makes another tenant: `trials(members=5)`."""
    with contextlib.ExitStack() as stack:

        def make(**wanted: Any) -> Trial:
            trial = Trial(sandbox, **wanted)
            stack.enter_context(trial.proxy)
            return trial

        yield make
