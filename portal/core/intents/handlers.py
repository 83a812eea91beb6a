"""What an area of work does when an intent of its own comes to something. Registered once, at start.

`accepted`, `on_progress` and `on_finished` run inside the transaction that records the step,
so that the mirror and a job's
rows never disagree with the intent. `reconcile` runs on its own and may read the service, within budget.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from accessapi.resources import RequestRecord
from portal.core.intents.models import Intent


@dataclass(frozen=True)
class Finding:
    """What reading brought for an uncertain intent.

    `applied` True: it surely happened; False: it surely did not; None: cannot tell (yet, when `retry_at` is set).
    `evidence` is shown: what was read, and when.
    """

    applied: bool | None
    evidence: dict[str, Any]
    retry_at: datetime | None = None


class ProgressHandler(Protocol):
    def __call__(self, intent: Intent, record: RequestRecord) -> None: ...


class OutcomeText(NamedTuple):
    """What the outcome line says in the words of the area of work; what is empty is said as for any intent."""

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
    """Tie an area of work to the operation that it sends. One area per operation: a second one is a mistake."""
    if operation in _handlers:
        raise ValueError(f"{operation} already has a handler")
    _handlers[operation] = Handler(on_finished, on_progress, reconcile, describe)


def handler_of(operation: str) -> Handler:
    return _handlers.get(operation, Handler())
