"""Handlers of areas of work for their operations, and what their readings prove about a lost answer.

Handlers are registered once, at start. `on_progress` and `on_finished` run inside the transaction that records the
step, so that the mirror and a job's rows always agree with the intent. `reconcile` runs outside of it and may read from
the service, within the API limit.

A slow service may still be working on a request whose answer was lost, so one reading that does not find the thing
proves nothing. Two readings that do not find it prove its absence, if the second begins at least a minute after the
first. The service's own report that the request is over is a proof, too. A wrong rule here creates things twice. See
docs/decisions/0053.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from accessapi.resources import RequestRecord, write_moment
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


MIN_ABSENCE_INTERVAL = timedelta(seconds=60)
_FIRST_MISSING_KEY = "first seen missing"


def check_absence(
    intent: Intent,
    at: datetime,
    evidence: dict[str, Any],
    *,
    min_interval: timedelta = MIN_ABSENCE_INTERVAL,
    is_over: bool = False,
    is_whole: bool = True,
) -> Finding:
    """Judge a reading that began at `at` and did not find the requested thing.

    Return that it was surely not applied, or when to read again. `min_interval` is longer where the service may take
    longer. `is_over`: the service has reported that no work on the request is left. If the list is not `is_whole`, some
    of it could not be read: it proves nothing, and a person must decide.
    """
    if not is_whole:
        return Finding(None, evidence)
    first = first_missing_at(intent)
    if is_over or proves_absence(first, at, min_interval=min_interval):
        return Finding(False, evidence | ({_FIRST_MISSING_KEY: write_moment(first)} if first else {}))
    again_at = at + min_interval + timedelta(seconds=1)
    return Finding(None, {**evidence, _FIRST_MISSING_KEY: write_moment(first or at)}, retry_at=again_at)


def proves_absence(first: datetime | None, at: datetime, *, min_interval: timedelta = MIN_ABSENCE_INTERVAL) -> bool:
    """Check whether two readings that found nothing, begun at `first` and `at`, together prove an absence."""
    return first is not None and at - first >= min_interval


def first_missing_at(intent: Intent) -> datetime | None:
    """Return when the first reading began that did not find the requested thing, or None."""
    moment = (intent.result.get("evidence") or {}).get(_FIRST_MISSING_KEY)
    return datetime.fromisoformat(moment) if moment else None


def next_useful_reading_at(intent: Intent) -> datetime:
    """Return the earliest time at which a new reading can add to what is known."""
    first = first_missing_at(intent)
    return first + MIN_ABSENCE_INTERVAL if first else intent.sent_at or intent.created_at
