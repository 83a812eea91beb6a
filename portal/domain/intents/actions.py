"""Functions that pages and jobs call: submit, dispatch, stop, release, withdraw and erase intents."""

from django.db import transaction
from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce, NullIf

from portal.base.timers.clock import ClockTime
from portal.domain.intents.models import FINAL, Intent, Reason, State
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command, Requester, record_intent
from portal.domain.intents.sending import send_inline
from portal.domain.intents.tasks import enqueue
from portal.domain.intents.transitions import Transition, apply_transition

__all__ = ["Command", "Requester", "dispatch", "release", "stop", "submit", "withdraw"]


def submit(command: Command, *, by: Requester, nonce: Nonce, inline: bool = True, automatic: bool = False) -> Intent:
    """Record an intent for the command and send it. Return its row, in the state it has then.

    It is sent at once when `inline` and a slot is free, otherwise by a worker. The same nonce returns the same row.
    Inside a transaction only `inline=False` is possible: nothing may be sent before its row is committed.
    """
    intent, is_new = record_intent(command, by=by, nonce=nonce, automatic=automatic)
    if is_new:
        dispatch(intent, inline=inline)
    return intent


def dispatch(intent: Intent, *, inline: bool = True) -> None:
    """Send a newly recorded intent, as `submit` does. Used for intents that are recorded together with other rows."""
    if intent.due_at is None:  # held until its first step is confirmed
        return
    if not (inline and send_inline(intent)):
        transaction.on_commit(lambda: enqueue(intent))


def stop(intent: Intent) -> bool:
    """Cancel an intent that was not sent yet. Return False when it was already sent; nothing is changed then."""
    return apply_transition({"pk": intent.pk, "state": State.QUEUED}, Transition(State.CANCELLED, Reason.STOPPED))


def release(intent: Intent) -> bool:
    """Make a held intent due, because its first step is confirmed. Return False when it was not held any more.

    Call it within a transaction.
    """
    held = Intent.objects.filter(pk=intent.pk, state=State.QUEUED, reason=Reason.STEP_BEFORE)
    released = held.update(due_at=ClockTime(), reason=Reason.NONE)
    if released:
        intent.refresh_from_db()
        transaction.on_commit(lambda: enqueue(intent))
    return bool(released)


def withdraw(intent: Intent) -> bool:
    """Cancel a held intent because its first step did not happen. Nothing of it was sent."""
    held = {"pk": intent.pk, "state": State.QUEUED, "reason": Reason.STEP_BEFORE}
    return apply_transition(held, Transition(State.CANCELLED, Reason.STEP_MISSING))


def erase(intents: QuerySet[Intent]) -> int:
    """Blank title, body, snapshot and result of the final intents among `intents`; return how many.

    State, times and the requester are kept. The title becomes the audit log's title, which has no names
    (`audit_title`), or the operation's name.
    """
    return intents.filter(state__in=FINAL, due_at__isnull=True).update(
        title=Coalesce(NullIf(Cast("audit_title", TextField()), Value("")), Cast("operation", TextField())),
        body=None,
        snapshot=None,
        result={},
        error_detail="",
    )
