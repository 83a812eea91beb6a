"""What pages and jobs call: ask, try, stop."""

from typing import Any

from django.db import transaction

from portal.intents.models import Intent
from portal.intents.outcome import apply
from portal.intents.record import Asker, record
from portal.intents.sending import send_inline
from portal.intents.states import Reason, State
from portal.intents.sweeping import ring
from portal.intents.verdicts import Verdict

__all__ = ["Asker", "stop", "submit"]


def submit(*, inline: bool = True, **asked: Any) -> Intent:
    """Record an intent (see `record.record` for what it takes) and have it sent: at once when `inline` and a slot is
    free, by a worker otherwise. The returned row says how far it came; the same nonce finds the same row. Inside a
    transaction only `inline=False` is possible: nothing may leave before its row is committed.
    """
    intent, is_new = record(**asked)
    if not is_new:
        return intent
    if not (inline and send_inline(intent)):
        transaction.on_commit(lambda: ring(intent))
    return intent


def stop(intent: Intent) -> bool:
    """Withdraw an intent that has not left yet. False: it has, and nothing was changed."""
    return apply({"pk": intent.pk, "state": State.QUEUED}, Verdict(State.CANCELLED, Reason.STOPPED))
