"""Decide the next state of an intent and when to poll it, and record both in one transaction.

The decisions are pure functions, for each kind of delivery (docs/promises.md). A step changes the intent's state, the
mirror, job rows and the audit log once. Polls are soon for people who wait, but not more often than the service works.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection, transaction

from accessapi import errors
from accessapi.client import Answer
from accessapi.operations import OPERATIONS, Body, Delivery, RequestType, operations_of_type
from accessapi.resources import RequestRecord
from portal.base.timers.clock import ClockTime, database_now, growing_pause
from portal.domain.intents import handlers
from portal.domain.intents.models import FINAL, MAX_ATTEMPTS, Attachment, Intent, Reason, State
from portal.domain.intents.recording import audit_actor
from tenants import audit

log = structlog.get_logger(__name__)


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
    facts: dict[str, Any] = {"http_status": error.status, "code": error.code, "detail": error.detail}
    if isinstance(error, errors.RateLimited) and attempts < 4 * MAX_ATTEMPTS:
        return Transition(
            State.QUEUED, Reason.BUDGET, again_in=float(min(error.retry_after or _DEFAULT_RETRY_SECONDS, 3600))
        )
    if isinstance(error, errors.NotFound) and deletes and reads:
        return Transition(State.UNCERTAIN, Reason.REFUSED, again_in=0.0, **facts)
    if isinstance(error, errors.NotFound) and deletes and attempts > 1:
        return Transition(State.SUCCEEDED, http_status=error.status)
    if isinstance(error, errors.Unauthorised) and attempts < 3:
        # The token may just have been replaced by a new one. If it is lost, the next claim will notice.
        return Transition(State.QUEUED, Reason.CONNECTION, again_in=1.0, **facts)
    return Transition(State.FAILED, Reason.REFUSED, **facts)


_WHY = {errors.TimedOut: Reason.TIMED_OUT, errors.ConnectionLost: Reason.LOST, errors.ServerFault: Reason.FAULT}


def _reason_of(error: errors.ServiceError) -> Reason:
    return next((reason for kind, reason in _WHY.items() if isinstance(error, kind)), Reason.UNREADABLE)


def _pause(attempts: int) -> float:
    return growing_pause(1.0, attempts, 60.0)


BULK_OPERATIONS = operations_of_type(RequestType.MEMBERS_BULK)
_SOONEST, _LATEST = 1.0, 60.0
# Members per second, if no request of a similar size was seen. The first poll then shows the real speed.
_GUESSED_PACE = 500
# How many times larger a request may be than the one whose speed is used, and how many requests are searched.
_COMPARABLE, _REMEMBERED = 4, 20
# A person waits at the door. With the sweep's interval this polls about once a second, six times in five seconds.
_DOOR_INTERVAL = 0.8


def first_poll_delay(intent: Intent) -> float:
    """Return the seconds from acceptance to the first poll.

    A bulk request is expected to take as long as an earlier one of a similar size.
    """
    if intent.operation not in BULK_OPERATIONS:
        return _SOONEST
    members = len((intent.body or {}).get("members", ()))
    pace = _seconds_per_member(intent, members)
    expected = pace * members if pace is not None else 1.0 + members / _GUESSED_PACE
    return min(max(expected, _SOONEST), _LATEST)


def next_poll_delay(intent: Intent, record: RequestRecord | None) -> float:
    """Return the seconds to the next poll.

    A door is polled about every second at first; a bulk request when its remaining members should be done.
    """
    if intent.operation not in BULK_OPERATIONS:
        return _DOOR_INTERVAL if intent.polls <= 6 else growing_pause(1.5, intent.polls - 6, 10.0, factor=1.5)
    result = record.result if record else None
    done, total = (result.completed_member_count or 0, result.member_count or 0) if result else (0, 0)
    if done and total and intent.accepted_at:
        elapsed = (database_now() - intent.accepted_at).total_seconds()
        # At most ten seconds while it progresses: a person may be watching the progress.
        return min(max(1.1 * elapsed * (total - done) / done, _SOONEST), 10.0)
    return growing_pause(1.0, intent.polls, 30.0, factor=1.5)


def _seconds_per_member(intent: Intent, members: int) -> float | None:
    """Return the seconds per member of the newest finished bulk request of the same kind, or None.

    A much smaller request is not used: most of its time was waiting for the first poll. If a request was already done
    at the first poll, half of its time is used; otherwise each next request would wait longer than the one before.
    """
    finished = Intent.objects.filter(
        operation=intent.operation, state=State.SUCCEEDED, accepted_at__isnull=False, finished_at__isnull=False
    )
    columns = ("accepted_at", "finished_at", "polls", "result__completed_member_count")
    for accepted_at, finished_at, polls, count in finished.order_by("-pk").values_list(*columns)[:_REMEMBERED]:
        if isinstance(count, int) and count > 0 and count * _COMPARABLE >= members:
            took = (finished_at - accepted_at).total_seconds()
            return float((took if polls > 1 else took / 2) / count)
    return None


# Retry for some seconds when the database fails: losing a received answer would make a known outcome uncertain.
_PAUSES = (0.5, 1.0, 2.0, 4.0)
_RECONCILE_AFTER = 2.0
IMAGE_OPERATIONS = {operation.name for operation in OPERATIONS if operation.body is Body.IMAGE}


def record_sent(intent: Intent, claim: uuid.UUID, verdict: Transition) -> None:
    """Write the result of sending, if this process still holds the claim. Otherwise the sweep has settled it."""
    held = {"pk": intent.pk, "state": State.SENDING, "claim": claim}
    _write_with_retries(lambda: apply_transition(held, verdict))


def settle_unsent(intent: Intent, state: State, reason: Reason) -> None:
    """End an intent that was never sent: it is surely not applied."""
    apply_transition({"pk": intent.pk, "state": State.QUEUED}, Transition(state, reason))


def apply_transition(held: dict[str, object], verdict: Transition) -> bool:
    """Move the one row that matches `held` to the verdict's state.

    Return False when no row matches any more; nothing is written then.
    """
    with transaction.atomic():
        intent = Intent.objects.select_for_update(of=("self",)).filter(**held).first()
        if intent is None:
            return False
        _write(intent, verdict)
        _run_follow_ups(intent)
        if intent.operation in IMAGE_OPERATIONS and intent.state != State.QUEUED:
            Attachment.objects.filter(intent=intent).delete()  # the image is not needed any more
        return True


def _write(intent: Intent, verdict: Transition) -> None:
    now = database_now()
    intent.state, intent.reason = verdict.state, verdict.reason
    intent.claim = None
    intent.woken_at = None
    intent.due_at = now + timedelta(seconds=verdict.again_in) if verdict.again_in is not None else None
    intent.http_status = verdict.http_status or intent.http_status
    intent.error_code, intent.error_detail = verdict.code, without_secrets(verdict.detail, intent.body)
    intent.request_id = verdict.request_id or intent.request_id
    intent.result = {**intent.result, **verdict.result}
    if verdict.state == State.ACCEPTED and intent.accepted_at is None:
        intent.accepted_at = now
        intent.due_at = now + timedelta(seconds=first_poll_delay(intent))
    if verdict.state in FINAL:
        intent.finished_at = now
    if verdict.state == State.UNCERTAIN and handlers.handler_of(intent.operation).reconcile:
        wait = _RECONCILE_AFTER if verdict.again_in is None else verdict.again_in
        intent.due_at = now + timedelta(seconds=wait)
    intent.save()


def _run_follow_ups(intent: Intent) -> None:
    """Call the area's `on_finished` and write the audit log. An error in a follow-up must not lose the outcome."""
    finished = handlers.handler_of(intent.operation).on_finished
    if intent.state not in FINAL:
        return
    if finished is not None:
        try:
            with transaction.atomic():
                finished(intent)
        except Exception:
            log.exception("intent_follow_up_failed", intent_id=intent.pk, operation=intent.operation)
            Intent.objects.filter(pk=intent.pk).update(result={**intent.result, "follow_up_failed": True})
    audit.record(
        tenant=intent.tenant,
        action=f"{intent.operation}.{intent.state}",
        target=intent.target,
        summary=intent.summary,
        after={"reason": intent.reason, "code": intent.error_code} if intent.reason else None,
        intent_id=str(intent.pk),
        **audit_actor(intent),
    )


def _write_with_retries(write: Callable[[], bool]) -> None:
    for pause in _PAUSES:
        try:
            write()
            return
        except (OperationalError, InterfaceError):
            if not connection.is_usable():  # keep a working session: it holds the lock that proves the claim is active
                connection.close()
            time.sleep(pause)
    write()


def reschedule(intent: Intent, *, due_in: float | None) -> None:
    """Make the intent due again in `due_in` seconds (None: never), without a change of state."""
    due_at = None if due_in is None else ClockTime() + timedelta(seconds=due_in)
    Intent.objects.filter(pk=intent.pk).update(due_at=due_at, woken_at=None)


# A "url" receives notifications: anyone who knows it can post to it.
_SECRET_KEYS = {"card_data", "data", "qrcode_data", "email", "totp_seed", "secret_token", "url"}


def without_secrets(text: str, body: object) -> str:
    """Return the service's message, with any secret of the request's body masked."""
    for secret in sorted(_secrets(body), key=len, reverse=True):
        text = text.replace(secret, "•••")
    return text


def _secrets(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {v for k, v in value.items() if k in _SECRET_KEYS and isinstance(v, str) and len(v) >= 4}
        return own.union(*(_secrets(v) for v in value.values()))
    if isinstance(value, list):
        return set().union(*(_secrets(v) for v in value))
    return set()
