"""Stable words for the reasons why a reading of the service failed, and the sentences that pages show for them."""

from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accessapi import errors
from accessapi.overrides import RefusalCause
from portal.base.ui.value_words import join_sentences, service_response
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.events import MirrorKind
from tenants.models import current_tenant

SKIPPED, NO_CALLS, NO_CONTRACT = "skipped", "calls_used", "no_contract"
SENTENCES: dict[str, str | Promise] = {
    "unreadable": _("The service's response could not be read. Nothing was changed."),
    SKIPPED: _("Some entries of the service's list have no usable ID. They were left out, and nothing was removed."),
    "repeated_cursor": _("The list could not be loaded completely. Nothing was changed."),
    "token_refused": _("The service no longer accepts this connection. Reconnect the tenant."),
    "no_scope": _("The connection lacks the API permission for this."),
    NO_CONTRACT: _("The contract does not include this. Ask the vendor to add it."),
    "no_licence": _("The remote-operation licence is missing."),
    "setting_off": _("The service refuses this until it is allowed on the member site."),
    "forbidden": _("The service refuses this."),
    "not_granted": _("The service refuses this."),  # stored by older versions, which did not find out what is missing
    "refused": _("The service refused the request."),
    "no_calls": _("The service accepts no more API calls for now."),
    NO_CALLS: _("No API calls are free for this at the moment."),
    "unreachable": _("The service could not be reached."),
    "no_answer": _("The service's response was incomplete."),
    "fault": _("The service reported an error."),
    "too_old": _("Loading the list took too long. Starting over."),
    "not_connected": _("The tenant is not connected."),
}
# More precise sentences for one kind.
_OF_KIND: dict[tuple[str, str], Promise] = {
    (MirrorKind.GUESTS, NO_CONTRACT): _("Guests are not available: the contract has no QR option."),
    (MirrorKind.GUESTS, "no_scope"): _("Guests are not available: the connection has no permission to read guests."),
    (MirrorKind.HISTORIES, "no_scope"): _(
        "The activity log is not available: the connection has no permission to read it."
    ),
}
_OF_BLAME = {
    RefusalCause.SCOPE: "no_scope",
    RefusalCause.CONTRACT: NO_CONTRACT,
    RefusalCause.LICENCE: "no_licence",
    RefusalCause.SETTING: "setting_off",
}
# Retrying does not help while a scope or contract is missing. A person who adds one reconnects or refreshes.
REFUSED_WAIT = timedelta(hours=6)


def sentence_of(reason: str, kind: str = "") -> str:
    """Return the sentence for a reason, with the service's code if stored; an unknown reason is returned unchanged."""
    word, _space, code = reason.partition(" ")
    known = _OF_KIND.get((kind, word)) or SENTENCES.get(word)
    if known is None:
        return reason
    return f"{known} ({code})" if code else str(known)


def reason_of(error: errors.ServiceError) -> str:
    """Return the stable word for an error of the service; for an unknown refusal, with its code or status.

    The environment of the entered tenant defines what a code means.
    """
    if isinstance(error, errors.Rejected):
        return _refusal(error)
    if isinstance(error, BudgetExhausted):
        return NO_CALLS
    if isinstance(error, errors.NotSent):
        return "not_connected" if error.reason == "no_usable_token" else "unreachable"
    if isinstance(error, errors.ServerFault):
        return "fault"
    return "unreadable" if isinstance(error, errors.UnreadableAnswer) else "no_answer"


def _refusal(error: errors.Rejected) -> str:
    meaning = current_tenant().environment.catalogue.errors.meaning(error.code)
    if meaning is not None and meaning.cause in _OF_BLAME:
        return _OF_BLAME[meaning.cause]
    if isinstance(error, errors.Unauthorised):
        return "token_refused"
    if isinstance(error, errors.RateLimited):
        return "no_calls"
    code = error.code if error.code.isdigit() else f"HTTP {error.status}"
    return f"{'forbidden' if error.status == 403 else 'refused'} {code}"[:60]


def is_permanent(reason: str) -> bool:
    """Return whether the service refuses this until a person adds something that is missing."""
    return reason.partition(" ")[0] in ("forbidden", "not_granted", *_OF_BLAME.values())


def describe_error(error: errors.ServiceError) -> str:
    """Return the sentence about an error for a person who waits at a screen. A timeout has a different sentence."""
    if isinstance(error, errors.TimedOut | errors.ConnectionLost):
        return gettext("The service did not respond.")
    sentence = sentence_of(reason_of(error))
    text = error.detail if isinstance(error, errors.Rejected) else ""
    return join_sentences([sentence, service_response(text)])


def paused_until(error: errors.ServiceError, now: datetime) -> datetime | None:
    """Return until when to wait if the only problem is that the hour's calls are used up; None for other errors."""
    if isinstance(error, BudgetExhausted):
        return error.check_again_at
    if isinstance(error, errors.RateLimited):
        return now + timedelta(seconds=min(error.retry_after or 60, 3600))
    return None


def retry_delay_after(error: errors.ServiceError) -> timedelta | None:
    """Return how long to wait after this error; None for the usual pauses, from a minute to an hour."""
    return REFUSED_WAIT if is_permanent(reason_of(error)) else None


def is_temporary(error: errors.ServiceError) -> bool:
    """Return whether the same call may succeed in a minute, so that the pages read so far are kept."""
    return isinstance(
        error, errors.NotSent | errors.RateLimited | errors.TimedOut | errors.ConnectionLost | errors.ServerFault
    )
