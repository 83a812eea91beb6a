"""One-time tokens of forms: a double click, the back button and a replayed request all find the same intent.

A nonce is signed and bound to one tenant and one person, so it is not valid for another tenant. It also has the time
when the page was created. With the milliseconds that the browser has counted since then, the portal knows the time of
the click, even when the request was delayed.
"""

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.core import signing
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from tenants import pending_commands
from tenants.access import TenantRequest

FIELD = "nonce"
ELAPSED_FIELD = "elapsed"
STAMP_FIELD = "made"
_SALT = "portal.domain.intents.nonce"
_CLICK = "portal.domain.intents.click"
_LIFETIME = 12 * 3600
_UNREADABLE = (signing.BadSignature, ValueError, TypeError, IndexError)


class NotSubmitted(Exception):
    """Nothing was recorded or sent; the text is the reason, for people."""

    def add_to(self, form: Any) -> None:
        form.add_error(None, str(self))


class BadNonce(NotSubmitted):
    """The form's nonce is not valid."""


@dataclass(frozen=True)
class Nonce:
    """A verified nonce: `value` identifies the intent within the tenant.

    `clicked_at` is None when the browser did not count.
    """

    value: str
    clicked_at: datetime | None = None


def create_nonce(request: TenantRequest) -> str:
    """Return a new nonce for a form of this tenant and person."""
    return signing.dumps([request.tenant.pk, request.user.pk, secrets.token_urlsafe(18)], salt=_SALT)


def nonce_inputs(request: TenantRequest) -> SafeString:
    """Return hidden inputs that make a form submit one intent, however often it is posted."""
    return hidden_inputs(FIELD, create_nonce(request))


def hidden_inputs(name: str, value: str) -> SafeString:
    """Return inputs for the value and for the milliseconds that `static/js/clicked.js` counts."""
    hidden = '<input type="hidden" name="{}" value="{}"><input type="hidden" name="{}" value="" data-elapsed>'
    return format_html(hidden, name, value, ELAPSED_FIELD)


def check_nonce(request: TenantRequest) -> Nonce:
    """Return the nonce of a posted form, with the time of its click, or of the click that confirmed it.

    Raises BadNonce when it is old, forged, or of another tenant or person.
    """
    try:
        (tenant_id, user_id, value), clicked = _read_signed(request, FIELD, _SALT)
    except _UNREADABLE:
        raise BadNonce(_("This form has expired. Nothing was sent. Try again.")) from None
    if (tenant_id, user_id) != (request.tenant.pk, request.user.pk):
        raise BadNonce(_("Nothing was sent. This form was opened for another tenant or person. Open it again."))
    if confirming := pending_commands.confirming_request(request):
        clicked = _confirmed_at(confirming)
    return Nonce(value, clicked)


def sign_page_time() -> str:
    """Return the signed time at which a page was created.

    For a form that confirms a command.
    """
    return signing.dumps("", salt=_CLICK)


def _confirmed_at(request: HttpRequest) -> datetime | None:
    """Return when the button of a form with a `sign_page_time` was pressed; None when that is unknown."""
    try:
        return _read_signed(request, STAMP_FIELD, _CLICK)[1]
    except _UNREADABLE:
        return None


def _read_signed(request: HttpRequest, field: str, salt: str) -> tuple[Any, datetime | None]:
    """Return the signed value of a field, and the time of the click. Raises one of _UNREADABLE."""
    signed = request.POST.get(field, "")
    value = signing.loads(signed, salt=salt, max_age=_LIFETIME)
    return value, _clicked_at(request, signing.b62_decode(signed.rsplit(":", 2)[1]))


def _clicked_at(request: HttpRequest, made_at: int) -> datetime | None:
    """Return the time of the click by the browser's count, but never a time in the future."""
    elapsed = request.POST.get(ELAPSED_FIELD, "")
    if not elapsed.isdecimal() or len(elapsed) > 12:
        return None
    # The stamp has whole seconds: counting from the end of its second is at most one second late.
    clicked = made_at + 1 + int(elapsed) / 1000
    return datetime.fromtimestamp(min(clicked, time.time()), UTC)
