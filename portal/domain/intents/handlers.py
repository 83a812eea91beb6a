"""Handlers of areas of work for their operations' progress and outcome. They are registered once, at start.

`on_progress` and `on_finished` run inside the transaction that records the step, so that the mirror and a job's rows
always agree with the intent. `reconcile` runs outside of it and may read from the service, within the API limit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from accessapi.resources import RequestRecord
from portal.domain.intents.models import Intent


@dataclass(frozen=True)
class Finding:
    """The result of reading from the service about an uncertain intent.

    `applied` True: it surely happened; False: it surely did not; None: unknown (to be read again, when `retry_at` is
    set). `evidence` is shown: what was read, and when.
    """

    applied: bool | None
    evidence: dict[str, Any]
    retry_at: datetime | None = None


class ProgressHandler(Protocol):
    def __call__(self, intent: Intent, record: RequestRecord) -> None: ...


class OutcomeText(NamedTuple):
    """An area's own text for the outcome line. Empty fields are replaced by the general text."""

    message: str = ""
    next_steps: Sequence[str] = ()


@dataclass(frozen=True)
class Handler:
    on_finished: Callable[[Intent], None] | None = None
    on_progress: ProgressHandler | None = None
    reconcile: Callable[[Intent], Finding] | None = None
    describe: Callable[[Intent], OutcomeText] | None = None


_handlers: dict[str, Handler] = {}


def register(
    operation: str,
    *,
    on_finished: Callable[[Intent], None] | None = None,
    on_progress: ProgressHandler | None = None,
    reconcile: Callable[[Intent], Finding] | None = None,
    describe: Callable[[Intent], OutcomeText] | None = None,
) -> None:
    """Register an area's handlers for an operation. Raises ValueError when the operation already has some."""
    if operation in _handlers:
        raise ValueError(f"{operation} already has a handler")
    _handlers[operation] = Handler(on_finished, on_progress, reconcile, describe)


def handler_of(operation: str) -> Handler:
    return _handlers.get(operation, Handler())
