"""allauth's sign-in forms with the portal's texts: one link to a forgotten password, no placeholders as labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, LoginForm, ReauthenticateForm, ResetPasswordForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as MFAReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from tenants.models import User
from tenants.staff import record
from tenants.staff.record import Kind, Method


def _plain(field: Any, label: Any) -> None:
    field.label, field.help_text = label, ""
    field.widget.attrs.pop("placeholder", None)


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth has no types
    """Address and password; the page offers passkeys and the forgotten password itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self.fields["login"], _("E-mail address"))
        _plain(self.fields["password"], _("Password"))
        if "remember" in self.fields:
            _plain(self.fields["remember"], _("Stay signed in on this device"))


class ConfirmForm(ReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The password again, before doors, connections and secrets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self.fields["password"], _("Password"))


class NewPasswordForm(ChangePasswordForm):  # type: ignore[misc]  # allauth has no types
    """A new password for the old one, of which wrong ones count as at sign-in."""

    def clean_oldpassword(self) -> str:
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class ActivateForm(ActivateTOTPForm):  # type: ignore[misc]  # allauth has no types
    """The first code of an authenticator app. It counts as used: it was shown and typed, so it signs nobody in."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        TOTP(Authenticator(user=self.user))._mark_code_used(code)
        return code


class ForgottenForm(ResetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """The address to which the link to a new password is sent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self.fields["email"], _("E-mail address"))

    def save(self, request: HttpRequest, **more: Any) -> str:
        """Write down that a link was asked for, and the mail with it: one commit, whether anybody has the address."""
        user = self.users[0] if self.users else None
        with transaction.atomic():
            record.write(request, Kind.RESET_ASKED, user, success=user is not None)
            email: str = super().save(request, **more)
        return email


def _readable(clean: Callable[[], Any]) -> Any:
    """Return what a form reads of a passkey's answer: one that cannot be read is a wrong one, and no broken page."""
    try:
        return clean()
    except (LookupError, TypeError, ValueError, AttributeError):
        raise get_mfa_adapter().validation_error("incorrect_code") from None


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A new passkey."""

    def clean(self) -> Any:
        return _readable(super().clean)


class _Recorded:
    """A form for a second factor. What allauth has no signal for is written down: refusals by a limit, passkeys."""

    asked = Kind.SIGN_IN
    user: User | None

    def _noted(self, clean: Callable[[], Any], method: str = "") -> Any:
        try:
            return _readable(clean) if method else clean()
        except ValidationError as error:
            if error.code == "too_many_login_attempts":
                record.throttled(context.request, self.user)
            elif method:
                record.write(context.request, self.asked, self.user, method=method, success=False)
            raise


class CodeForm(_Recorded, AuthenticateForm):  # type: ignore[misc]  # allauth has no types
    """A code of an app, or a recovery code, at sign-in."""

    def clean_code(self) -> Any:
        return self._noted(super().clean_code)


class CodeAgainForm(_Recorded, MFAReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The same to confirm who is there."""

    def clean_code(self) -> Any:
        return self._noted(super().clean_code)


class PasskeyForm(_Recorded, AuthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A passkey after the password."""

    def clean_credential(self) -> Any:
        return self._noted(super().clean_credential, Method.PASSKEY)


class PasskeyAloneForm(_Recorded, LoginWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A passkey without a password. Whose one that failed was is not known: the browser may name anybody."""

    def clean_credential(self) -> Any:
        return self._noted(super().clean_credential, Method.PASSKEY)


class PasskeyAgainForm(_Recorded, ReauthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A passkey to confirm who is there."""

    asked = Kind.PROOF

    def clean_credential(self) -> Any:
        return self._noted(super().clean_credential, Method.PASSKEY)
