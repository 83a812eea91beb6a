"""Resolving an uncertain intent: by reading, as far as reading can tell, and otherwise by a person."""

from collections.abc import Callable
from datetime import timedelta

from django.db import transaction

from accessapi.errors import ServiceError
from accessapi.operations import Delivery
from portal.core.budget.ledger import BudgetExhausted
from portal.core.intents import handlers, outcome
from portal.core.intents.leases import leased
from portal.core.intents.models import Intent
from portal.core.intents.record import Asker
from portal.core.intents.states import Reason, State
from portal.core.intents.verdicts import Verdict
from portal.core.timers.clock import database_now
from tenants import audit
from tenants.wording import say

_PAUSE_AFTER_TROUBLE = 30.0
# Where reading never succeeds at all, a person need not wait for it any longer than this.
_READ_FIRST = timedelta(minutes=10)


def reconcile(intent: Intent) -> None:
    """Read what the area of work knows how to read, and record what was found."""
    look = handlers.of(intent.operation).reconcile
    with leased(intent, State.UNCERTAIN) as is_mine:
        if is_mine and look is not None:
            _look(intent, look)


def _look(intent: Intent, look: Callable[[Intent], handlers.Finding]) -> None:
    try:
        finding = look(intent)
    except BudgetExhausted as exhausted:
        Intent.objects.filter(pk=intent.pk, state=State.UNCERTAIN).update(due_at=exhausted.ask_at, rung_at=None)
    except ServiceError:
        outcome.touch(intent, due_in=_PAUSE_AFTER_TROUBLE)
    else:
        _record(intent, finding)


def is_reading(intent: Intent) -> bool:
    """Whether reading may still tell what became of this creation. Until then nobody decides that it is not there:
    it would be asked for again, and be there twice.
    """
    if intent.delivery != Delivery.CREATE or intent.state != State.UNCERTAIN or intent.due_at is None:
        return False
    recent = intent.sent_at is None or intent.sent_at > database_now() - _READ_FIRST
    return recent and handlers.of(intent.operation).reconcile is not None


def _record(intent: Intent, finding: handlers.Finding) -> None:
    evidence = {"evidence": finding.evidence}
    if finding.applied is None:
        Intent.objects.filter(pk=intent.pk, state=State.UNCERTAIN).update(
            due_at=finding.again_at, rung_at=None, result={**intent.result, **evidence}
        )
        return
    state, reason = (State.SUCCEEDED, intent.reason) if finding.applied else (State.FAILED, Reason.ABSENT)
    outcome.apply({"pk": intent.pk, "state": State.UNCERTAIN}, Verdict(state, Reason(reason), result=evidence))


def resolve(intent: Intent, *, applied: bool, by: Asker) -> bool:
    """A person decides what an uncertain intent came to. False: it was no longer uncertain, and nothing was written."""
    with transaction.atomic():
        state = State.SUCCEEDED if applied else State.FAILED
        verdict = Verdict(state, Reason.DECIDED, result={"decided_at": database_now().isoformat(timespec="seconds")})
        if not outcome.apply({"pk": intent.pk, "state": State.UNCERTAIN}, verdict):
            return False
        Intent.objects.filter(pk=intent.pk).update(resolved_by=by.user)
        audit.record(
            tenant=by.tenant,
            by=by.user,
            action="intent.resolved",
            target=intent.target,
            summary=say("intent.applied" if applied else "intent.not_applied", what=intent.summary),
            after={"applied": applied},
            intent_id=str(intent.pk),
            support_session=by.support_session,
        )
        return True
