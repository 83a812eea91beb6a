"""Build the outcome line of an intent: what happened, what was not applied, what a person can do."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui.outcome_lines import OutcomeLine, Text, outcome_steps
from portal.base.ui.value_words import join_sentences, join_values
from portal.domain.intents import evidence, handlers, refusals
from portal.domain.intents.form_handling import page_address
from portal.domain.intents.handlers import OutcomeText
from portal.domain.intents.models import NOT_APPLIED, Intent, Reason, State
from tenants.audit_log import changes
from tenants.sentences import render

_OUTCOME_STATES = {
    State.QUEUED: "recorded",
    State.SENDING: "sending",
    State.ACCEPTED: "accepted",
    State.SUCCEEDED: "done",
    State.FAILED: "refused",
    State.UNCERTAIN: "uncertain",
    State.EXPIRED: "expired",
    State.CANCELLED: "cancelled",
}


def outcome_of(intent: Intent) -> OutcomeLine:
    """Return the outcome line of an intent. Needs `intent.by` and the tenant's slug."""
    state = State(intent.state)
    words = handlers.handler_of(intent.operation).describe
    text = words(intent) if words is not None else OutcomeText()
    return OutcomeLine(
        state=_OUTCOME_STATES[state],
        title=render(intent.title),
        id=f"intent-{intent.pk}",
        message=text.message or _message(intent, state),
        service_code=intent.error_code,
        service_detail=_service_text(intent),
        not_applied=_not_applied(intent, state),
        next_steps=() if state == State.SUCCEEDED else text.next_steps or _next_steps(intent, state),
        steps=outcome_steps(
            _OUTCOME_STATES[state], is_asynchronous=bool(intent.request_id or intent.is_physical), at=_times(intent)
        ),
        at=intent.finished_at or intent.created_at,
        by=intent.requested_by,
        audit_url=page_address(intent),
        poll_url="" if intent.is_final else page_address(intent, "outcome"),
        final=intent.is_final,
        poll_seconds=0.3 if intent.is_physical else 1,
        details=_details(intent),
    )


def _message(intent: Intent, state: State) -> Text:
    if state == State.UNCERTAIN:
        return uncertain_text(intent)
    if state == State.SUCCEEDED:
        return _member_counts_text(intent)
    reason = str(Reason(intent.reason).label if intent.reason in Reason.values else intent.reason)
    if state == State.FAILED and intent.reason == Reason.REFUSED:
        return join_sentences([reason, refusals.missing_permission_text(intent)])
    return join_sentences([reason, intent.error_detail]) if intent.reason == Reason.INVALID else reason


def uncertain_text(intent: Intent, may: str = "") -> str:
    """Return why the outcome is unknown, and what may have happened (`may`, or a general sentence)."""
    why = str(Reason(intent.reason).label) if intent.reason in Reason.values else ""
    if intent.is_physical:
        may = may or _("It may have been carried out. It will not be sent again.")
    return join_sentences(
        [why, may or _("The service may have applied it. It will not be sent again until that is known.")]
    )


def describe_command(intent: Intent, *, uncertain: Text, failed: Text, failed_lock: Text, advice: Text) -> OutcomeText:
    """Return a command's own text. If the service accepts it and then reports a failure, the lock may have moved."""
    if intent.state == State.UNCERTAIN and not intent.is_lock:
        return OutcomeText(uncertain_text(intent, str(uncertain)))
    if intent.reason != Reason.REQUEST_FAILED:
        return OutcomeText()
    return OutcomeText(str(failed_lock if intent.is_lock else failed), [str(advice)])


def _member_counts_text(intent: Intent) -> str:
    done, failed = intent.result.get("completed_member_count"), intent.result.get("failed_count", 0)
    if not isinstance(done, int):
        return ""
    text = ngettext("%(n)d member processed", "%(n)d members processed", done) % {"n": done}
    return join_values([text, _("%(n)d of them refused") % {"n": failed}]) if failed else text


def _service_text(intent: Intent) -> str:
    """Return the service's last text, verbatim: of its refusal, or about a request that it accepted."""
    if intent.error_detail and refusals.is_service_text(intent):
        return intent.error_detail
    return intent.request_status if intent.state in (State.ACCEPTED, State.UNCERTAIN) else ""


def _not_applied(intent: Intent, state: State) -> Sequence[Text]:
    """Return what surely did not happen. A request that failed after acceptance may have changed something."""
    if state in NOT_APPLIED and intent.reason != Reason.REQUEST_FAILED:
        return [_("Nothing was changed.")]
    return ()


def _next_steps(intent: Intent, state: State) -> Sequence[Text]:
    if state == State.UNCERTAIN and intent.due_at is not None:
        return [_("Checking with the service.")]
    if state == State.UNCERTAIN and intent.is_physical:
        return [_("Check the door, or ask someone who is there, before you try again.")]
    if state == State.UNCERTAIN:
        return [_("Check the member site, then record below whether it was applied.")]
    if intent.reason == Reason.CONNECTION:
        return [_("Ask an owner to check the connection page.")]
    if intent.reason in (Reason.TOO_LATE, Reason.NOT_SENT):
        return [_("Try again.")]
    return ()


def _times(intent: Intent) -> dict[str, datetime]:
    named = {
        "recorded": intent.created_at,
        "sent": intent.sent_at,
        "accepted": intent.accepted_at,
        _OUTCOME_STATES[State(intent.state)]: intent.finished_at,
    }
    return {name: at for name, at in named.items() if at is not None}


def _details(intent: Intent) -> list[tuple[Text, Text]]:
    """Return what was read to resolve it, in words."""
    found = intent.result.get("evidence")
    return evidence.describe(found, changes.labels_of(intent.target)) if isinstance(found, dict) else []
