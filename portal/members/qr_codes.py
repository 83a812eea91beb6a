"""Draw members' QR codes, and request one-time codes (specification: operation 12).

A code is a valid credential: it is drawn only for people who may see secrets, and never stored or logged. Each renewal
uses an API call. People who view the same member at the same time share one call.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core import signing
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from accessapi import errors
from accessapi.resources.members import OneTimeQrIssued
from portal.base.timers.clock import database_now
from portal.base.ui import qr_drawing
from portal.base.ui.times import local
from portal.base.ui.value_words import add_brackets, join_sentences, service_response
from portal.domain.budget.client import client
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.people.models import Member
from portal.domain.sync import failure_reasons
from portal.domain.sync.single_reads import share_call
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection

# How long codes are renewed before the person has to confirm.
RENEW_SECONDS = 10 * 60
_SALT = "portal.members.one_time"


class NoOneTimeCode(Exception):
    """Raised when there is no code to show; the text says why. `is_temporary`: a retry may help."""

    def __init__(self, text: str, *, is_temporary: bool = False) -> None:
        super().__init__(text)
        self.is_temporary = is_temporary


@dataclass(frozen=True)
class OneTimeCode:
    """A drawn code with its end. `is_exact` is False if the service did not return an end."""

    picture: SafeString
    until: datetime
    seconds: int
    is_exact: bool


def draw_qr(data: str, label: str) -> SafeString | None:
    """Return a QR code as SVG, black on white in each theme; None if the data is too long."""
    try:
        return qr_drawing.draw_svg(qr_drawing.build_code(data), label)
    except qr_drawing.NotDrawable:
        return None


def current_code(member: Member, priority: Priority) -> OneTimeCode:
    """Return the present one-time code. Raises NoOneTimeCode."""
    issued, requested_at = _request_code(member.member_id, priority)
    left = issued.expiration_in_seconds
    until = requested_at + timedelta(seconds=left if left is not None and left > 0 else 30)
    seconds = max(1, int((until - database_now()).total_seconds()))
    drawn = draw_qr(issued.one_time_qr_data, _("One-time code of %(name)s") % {"name": member})
    if drawn is None:
        raise NoOneTimeCode(_("The service's code is too long for a QR code."))
    return OneTimeCode(drawn, until, seconds, left is not None)


def _request_code(member_id: str, priority: Priority) -> tuple[OneTimeQrIssued, datetime]:
    line = current_connection()
    if not line.is_connected:
        raise NoOneTimeCode(_("The connection to the service is not working."))

    def fetch() -> dict[str, Any]:
        at = database_now()
        answer = client(line, priority).call("one_time_qr", path={"member_id": member_id})
        return {"told": answer.data, "at": at.isoformat()}

    try:
        data, _first = share_call(f"one_time_qr:{member_id}", fetch)
    except BudgetExhausted as exhausted:
        if priority == Priority.PEOPLE:
            left = _("No API calls left this hour. The next code is available at %(time)s.")
            raise NoOneTimeCode(left % {"time": f"{local(exhausted.retry_at):%H:%M}"}, is_temporary=True) from None
        raise NoOneTimeCode(_("Few API calls left this hour."), is_temporary=True) from None
    except errors.Rejected as refusal:
        lines = [_("No code available."), add_brackets(str(refusal.code or refusal.status))]
        if refusal.detail:
            lines.insert(1, service_response(refusal.detail))
        raise NoOneTimeCode(join_sentences(lines)) from None
    except errors.ServiceError as error:
        trouble = [failure_reasons.describe_error(error), _("Old codes are hidden.")]
        raise NoOneTimeCode(join_sentences(trouble), is_temporary=True) from None
    return OneTimeQrIssued.model_validate(data["told"]), datetime.fromisoformat(data["at"])


def renewal_permit(request: TenantRequest, member: Member) -> str:
    """Return a permit to renew the code automatically for a while, signed for this tenant, person and member."""
    return signing.dumps([request.tenant.pk, request.user.pk, member.member_id], salt=_SALT)


def may_renew(request: TenantRequest, member: Member) -> bool:
    """Check whether the page may still renew the code automatically."""
    try:
        permit = signing.loads(request.POST.get("permit", ""), salt=_SALT, max_age=RENEW_SECONDS)
    except signing.BadSignature:
        return False
    return bool(permit == [request.tenant.pk, request.user.pk, member.member_id])
