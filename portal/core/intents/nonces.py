"""One-time names of forms: a double click, the back button and a replayed request all find the same intent.

A nonce is signed and bound to the tenant and the person it was made for, so that a form opened for one tenant is worth
nothing at another's address. It also carries when the page was made: with the milliseconds that the browser counted
since, the moment of the click is known even when the request then waited somewhere.
"""

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.core import signing
from django.http import HttpRequest
from django.utils.translation import gettext as _

from tenants.access import TenantRequest

FIELD = "nonce"
ELAPSED_FIELD = "elapsed"
STAMP_FIELD = "made"
_SALT = "portal.core.intents.nonce"
_CLICK = "portal.core.intents.click"
_LIFETIME = 12 * 3600
_UNREADABLE = (signing.BadSignature, ValueError, TypeError, IndexError)


class NotSubmitted(Exception):
    """Nothing was recorded and nothing sent; the text says why, for a person."""

    def add_to(self, form: Any) -> None:
        """Put the reason into the form."""
        form.add_error(None, str(self))


class BadNonce(NotSubmitted):
    """The form cannot be used."""


@dataclass(frozen=True)
class Nonce:
    """`value` names the intent within the tenant. `clicked_at` is None when the browser did not count."""

    value: str
    clicked_at: datetime | None = None


def create_nonce(request: TenantRequest) -> str:
    """A fresh nonce for a form of this tenant and person."""
    return signing.dumps([request.tenant.pk, request.user.pk, secrets.token_urlsafe(18)], salt=_SALT)


def check_nonce(request: TenantRequest) -> Nonce:
    """The nonce of a posted form. Raises BadNonce for another tenant's, another person's, an old or a forged one."""
    try:
        (tenant_id, user_id, value), clicked = _read_signed(request, FIELD, _SALT)
    except _UNREADABLE:
        raise BadNonce(_("This form has expired. Nothing was sent. Try again.")) from None
    if (tenant_id, user_id) != (request.tenant.pk, request.user.pk):
        raise BadNonce(_("This form was opened for another tenant or person. Nothing was sent."))
    return Nonce(value, clicked)


def sign_page_time() -> str:
    """When a page was made, signed: for a form outside of a tenant whose click counts (`clicked_at`)."""
    return signing.dumps("", salt=_CLICK)


def clicked_at(request: HttpRequest) -> datetime | None:
    """When the button of a form with a `sign_page_time` was pressed; None when that cannot be told, which counts as
    now."""
    try:
        return _read_signed(request, STAMP_FIELD, _CLICK)[1]
    except _UNREADABLE:
        return None


def _read_signed(request: HttpRequest, field: str, salt: str) -> tuple[Any, datetime | None]:
    """Return what was signed into a field, and the moment of the click. Raises one of _UNREADABLE."""
    signed = request.POST.get(field, "")
    value = signing.loads(signed, salt=salt, max_age=_LIFETIME)
    return value, _clicked_at(request, signing.b62_decode(signed.rsplit(":", 2)[1]))


def _clicked_at(request: HttpRequest, made_at: int) -> datetime | None:
    """When the browser's own count says the click was; never in the future, whatever the browser says."""
    elapsed = request.POST.get(ELAPSED_FIELD, "")
    if not elapsed.isdecimal() or len(elapsed) > 12:
        return None
    # The stamp has whole seconds: counting from the end of its second errs by less than one second on the late side.
    clicked = made_at + 1 + int(elapsed) / 1000
    return datetime.fromtimestamp(min(clicked, time.time()), UTC)
