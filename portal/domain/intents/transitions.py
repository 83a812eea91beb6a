"""Decide the next state from an answer or an error, for each kind of delivery, in pure functions (docs/promises.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accessapi import errors
from accessapi.client import Answer
from accessapi.operations import Delivery
from portal.domain.intents.states import MAX_ATTEMPTS, Reason, State


@dataclass(frozen=True)
class Transition:
    """The next state, and the seconds until the next action (`again_in`; None: no automatic action)."""

    state: State
    reason: Reason = Reason.NONE
    again_in: float | None = None
    http_status: int | None = None
    code: str = ""
    detail: str = ""
    request_id: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)


# If the service sends no retry time, the ledger decides.
_DEFAULT_RETRY_SECONDS = 5
RESULT_KEYS = ("member_id", "member_name", "membergroup_id", "membergroup_name", "guest_id", "guest_name",
         "sent_device_id_list", "request_type")  # fmt: skip


def from_answer(answer: Answer, *, follows: bool) -> Transition:
    """Return the transition for a readable 2xx answer.

    `follows`: the operation answers with a request_id, whose outcome has to be read.
    """
    data = answer.data if isinstance(answer.data, dict) else {}
    result = {key: data[key] for key in RESULT_KEYS if key in data}
    if not follows:
        return Transition(State.SUCCEEDED, http_status=answer.status, result=result)
    request_id = data.get("request_id")
    if not isinstance(request_id, str) or not request_id:
        return Transition(State.UNCERTAIN, Reason.UNREADABLE, http_status=answer.status, result=result)
    return Transition(State.ACCEPTED, http_status=answer.status, request_id=request_id, result=result)


def from_error(
    error: errors.ServiceError, *, delivery: Delivery, attempts: int, deletes: bool, reads: bool = False
) -> Transition:
    """Return the transition for a refusal, an unsent request, or an ambiguous end. `attempts` counts this one.

    `reads`: a deletion that gets 404 is checked by reading: the thing may be gone already, or the address may be wrong.
    """
    if isinstance(error, errors.InvalidRequest):
        detail = "\n".join(f"{problem.field}: {problem.message}" for problem in error.problems)
        return Transition(State.FAILED, Reason.INVALID, detail=detail)
    if isinstance(error, errors.NotSent):
        return _not_sent(delivery, attempts, error)
    if isinstance(error, errors.Rejected):
        return _rejected(error, attempts, deletes, reads)
    repeatable = delivery in (Delivery.SET, Delivery.READ)
    if repeatable and attempts < MAX_ATTEMPTS:
        return Transition(State.QUEUED, _reason_of(error), again_in=_pause(attempts))
    return Transition(State.UNCERTAIN, _reason_of(error), detail=str(error))


def _not_sent(delivery: Delivery, attempts: int, error: errors.NotSent) -> Transition:
    # Nothing was sent, so even a door command may be tried again within its deadline.
    if delivery == Delivery.PHYSICAL or attempts < 2 * MAX_ATTEMPTS:
        pause = 0.5 if delivery == Delivery.PHYSICAL else _pause(attempts)
        return Transition(State.QUEUED, Reason.NOT_SENT, again_in=pause)
    return Transition(State.FAILED, Reason.NOT_SENT, detail=str(error))


def _rejected(error: errors.Rejected, attempts: int, deletes: bool, reads: bool) -> Transition:
    said: dict[str, Any] = {"http_status": error.status, "code": error.code, "detail": error.detail}
    if isinstance(error, errors.RateLimited) and attempts < 4 * MAX_ATTEMPTS:
        return Transition(
            State.QUEUED, Reason.BUDGET, again_in=float(min(error.retry_after or _DEFAULT_RETRY_SECONDS, 3600))
        )
    if isinstance(error, errors.NotFound) and deletes and reads:
        return Transition(State.UNCERTAIN, Reason.REFUSED, again_in=0.0, **said)
    if isinstance(error, errors.NotFound) and deletes and attempts > 1:
        return Transition(State.SUCCEEDED, http_status=error.status)
    if isinstance(error, errors.Unauthorised) and attempts < 3:
        # The token may just have been replaced by a new one. If it is lost, the next claim will notice.
        return Transition(State.QUEUED, Reason.CONNECTION, again_in=1.0, **said)
    return Transition(State.FAILED, Reason.REFUSED, **said)


_WHY = {errors.TimedOut: Reason.TIMED_OUT, errors.ConnectionLost: Reason.LOST, errors.ServerFault: Reason.FAULT}


def _reason_of(error: errors.ServiceError) -> Reason:
    return next((reason for kind, reason in _WHY.items() if isinstance(error, kind)), Reason.UNREADABLE)


def _pause(attempts: int) -> float:
    return float(min(2**attempts, 60))
