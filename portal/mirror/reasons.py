"""Why a reading of the service ended, as stable words that pages can explain."""

from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accessapi import errors
from portal.budget.ledger import BudgetExhausted
from portal.mirror.kinds import Kind

NOT_GRANTED = "not_granted"
SENTENCES: dict[str, str | Promise] = {
    "unreadable": _("The service's answer could not be read. Nothing was changed."),
    "repeated_cursor": _("The service's list turned in a circle. Nothing was changed."),
    "token_refused": _("The service no longer accepts this connection. Reconnect the tenant."),
    NOT_GRANTED: _("The service refuses this: a scope or a contract is missing."),
    "refused": _("The service refused the request."),
    "unreachable": _("The service could not be reached."),
    "no_answer": _("The service did not answer completely."),
    "too_old": _("Reading the list took too long, so it begins again."),
    "not_connected": _("The tenant is not connected."),
}
# Where a word means more for one kind.
_OF_KIND: dict[tuple[str, str], Promise] = {
    (Kind.GUESTS, NOT_GRANTED): _(
        "The service gives out no guests: the QR option contract, or the permission to read guests, is missing."
    ),
    (Kind.HISTORIES, NOT_GRANTED): _("The service gives out no histories: the permission to read logs is missing."),
}
# A missing scope or contract does not come by waiting. Whoever adds one reconnects the tenant or asks for a reading.
REFUSED_WAIT = timedelta(hours=6)


def sentence(reason: str, kind: str = "") -> str:
    """The reason in words; a reason nobody described is shown as it is."""
    return str(_OF_KIND.get((kind, reason)) or SENTENCES.get(reason, reason))


def reason_of(error: errors.ServiceError) -> str:
    """The stable word for an error of the service."""
    if isinstance(error, errors.Unauthorised):
        return "token_refused"
    if isinstance(error, errors.Forbidden):
        return NOT_GRANTED
    if isinstance(error, errors.UnreadableAnswer):
        return "unreadable"
    if isinstance(error, errors.Rejected):
        return "refused"
    return "unreachable" if isinstance(error, errors.NotSent) else "no_answer"


def pause_of(error: errors.ServiceError, now: datetime) -> datetime | None:
    """Until when to wait when nothing is wrong but the hour's calls are used up; None for real failures."""
    if isinstance(error, BudgetExhausted):
        return error.ask_at
    if isinstance(error, errors.RateLimited):
        return now + timedelta(seconds=min(error.retry_after or 60, 3600))
    return None


def wait_after(error: errors.ServiceError) -> timedelta | None:
    """How long to leave the service alone after this; None: the usual pauses, from a minute to an hour."""
    return REFUSED_WAIT if isinstance(error, errors.Forbidden) else None


def passing(error: errors.ServiceError) -> bool:
    """Whether the same call may well succeed in a minute: what was read so far is kept."""
    return isinstance(error, (errors.NotSent, errors.TimedOut, errors.ConnectionLost, errors.ServerFault))
