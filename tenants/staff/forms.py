"""Forms of the staff page and of an accepted invitation, and allauth's sign-in forms with the portal's texts.

The sign-in forms have one link to a forgotten password, and no placeholders as labels.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import (
    ChangePasswordForm,
    LoginForm,
    ReauthenticateForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
)
from allauth.core import context
from allauth.mfa import app_settings as mfa_settings
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as MFAReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import TOTP, validate_totp_code
from allauth.mfa.utils import decrypt
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from tenants import roles
from tenants.models import User
from tenants.staff import account_events
from tenants.staff.account_events import Kind, Method


class InviteForm(forms.Form):
    """An address and a role."""

    email = forms.EmailField(label=_("E-mail address"), max_length=254)
    role = forms.ChoiceField(label=_("Role"), choices=lambda: [("", _("Choose a role")), *roles.tenant_choices()])


class RoleForm(forms.Form):
    """Another role for a staff member. `shown` is the role that the page showed."""

    role = forms.ChoiceField(label=_("Role"), choices=roles.tenant_choices)
    shown = forms.CharField(required=False)


class AcceptForm(forms.Form):
    """A name and a password for the account that an invitation creates."""

    name = forms.CharField(label=_("Your name"), max_length=80)
    password = forms.CharField(
        label=_("Password"), strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email
        self.fields["password"].help_text = password_validators_help_text_html()

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self.email, name=self.cleaned_data.get("name", "")))
        return password


def _set_label(field: Any, label: Any) -> None:
    field.label, field.help_text = label, ""
    field.widget.attrs.pop("placeholder", None)


def _set_new_password_labels(fields: dict[str, Any]) -> None:
    """Label both fields of a new password. The first keeps its help, the rules for passwords."""
    rules = fields["password1"].help_text
    _set_label(fields["password1"], _("New password"))
    _set_label(fields["password2"], _("New password again"))
    fields["password1"].help_text = rules


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth has no types
    """Address and password; the page itself offers passkeys and the link to a forgotten password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_label(self.fields["login"], _("E-mail address"))
        _set_label(self.fields["password"], _("Password"))
        if "remember" in self.fields:
            _set_label(self.fields["remember"], _("Stay signed in on this device"))


class ConfirmPasswordForm(ReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The password again, before doors, connections and secrets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_label(self.fields["password"], _("Password"))


class NewPasswordForm(ChangePasswordForm):  # type: ignore[misc]  # allauth has no types
    """A new password in place of the old one. Wrong old passwords count as at sign-in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_label(self.fields["oldpassword"], _("Current password"))
        _set_new_password_labels(self.fields)

    def clean_oldpassword(self) -> str:
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class ActivateAppForm(ActivateTOTPForm):  # type: ignore[misc]  # allauth has no types
    """The first code of an authenticator app. It counts as used, so it cannot be used to sign in."""

    def clean_code(self) -> str:
        self.cleaned_data["code"] = _normalise_digits(self.cleaned_data["code"])
        code: str = super().clean_code()
        TOTP(Authenticator(user=self.user))._mark_code_used(code)
        _retain_used_code(self.user, code)
        return code


class ReplacedPasswordForm(ResetPasswordKeyForm):  # type: ignore[misc]  # allauth has no types
    """A new password, on the page of the link from a mail."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_new_password_labels(self.fields)


class ForgottenPasswordForm(ResetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """The address to which the link to a new password is sent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_label(self.fields["email"], _("E-mail address"))

    def save(self, request: HttpRequest, **more: Any) -> str:
        """Record the request for a link and queue the mail: one commit, even if no account has the address."""
        user = self.users[0] if self.users else None
        with transaction.atomic():
            account_events.record(request, Kind.RESET_ASKED, user, success=user is not None)
            email: str = super().save(request, **more)
        return email


def _clean_passkey(clean: Callable[[], Any]) -> Any:
    """Return a form's cleaned passkey. An unreadable one is a wrong passkey, not a server error."""
    try:
        return clean()
    except (LookupError, TypeError, ValueError, AttributeError):
        raise get_mfa_adapter().validation_error("incorrect_code") from None


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    def clean(self) -> Any:
        return _clean_passkey(super().clean)


class _RecordedForm:
    """A form for a second factor. It records what allauth has no signal for: refusals by a limit, passkeys."""

    event_kind = Kind.SIGN_IN
    user: User | None

    def _clean_recorded(self, clean: Callable[[], Any], method: str = "") -> Any:
        try:
            return _clean_passkey(clean) if method else clean()
        except ValidationError as error:
            if error.code == "too_many_login_attempts":
                account_events.record_throttled(context.request, self.user)
            elif method:
                account_events.record(context.request, self.event_kind, self.user, method=method, success=False)
            raise


class _CodeForm(_RecordedForm, BaseAuthenticateForm):  # type: ignore[misc]  # allauth has no types
    """A code of an app, or a recovery code, each of which counts once."""

    def clean_code(self) -> Any:
        code = self.cleaned_data["code"] = _normalise_digits(self.cleaned_data["code"])
        try:
            self._clean_recorded(super().clean_code)
        except ValidationError as error:
            if error.code == "incorrect_code" and _is_own_code(self.user, code):
                raise ValidationError(_("This code was already used. Enter a new one.")) from None
            raise
        _retain_used_code(self.user, code)
        return code


class CodeForm(_CodeForm, AuthenticateForm):  # type: ignore[misc]  # allauth has no types
    """A code at sign-in."""


class ConfirmCodeForm(_CodeForm, MFAReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """A code to confirm identity."""


def _normalise_digits(code: str) -> str:
    """Return a code in plain digits: they may be typed in full width, or pasted with invisible characters."""
    return "".join(each for each in unicodedata.normalize("NFKC", code) if unicodedata.category(each) != "Cf")


def _retain_used_code(user: User | None, code: str) -> None:
    """Remember an app's code as used for its whole valid time; allauth does so for one step."""
    steps = 2 * mfa_settings.TOTP_TOLERANCE + 1
    cache.touch(TOTP(Authenticator(user=user))._get_used_cache_key(code), steps * mfa_settings.TOTP_PERIOD)


def _is_own_code(user: User | None, code: str) -> bool:
    """Return whether a refused code is the person's own: then it was refused because it was used before."""
    for each in Authenticator.objects.filter(user=user):
        if each.type == Authenticator.Type.TOTP and validate_totp_code(decrypt(each.data["secret"]), code):
            return True
        if each.type == Authenticator.Type.RECOVERY_CODES and code in RecoveryCodes(each).generate_codes():
            return True
    return False


class _PasskeyForm(_RecordedForm):
    def clean_credential(self) -> Any:
        return self._clean_recorded(super().clean_credential, Method.PASSKEY)  # type: ignore[misc]  # allauth's form


class PasskeyForm(_PasskeyForm, AuthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A passkey after the password."""


class PasskeySignInForm(_PasskeyForm, LoginWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A passkey without a password. The person of a failed one is unknown: the browser may send any account."""


class ConfirmPasskeyForm(_PasskeyForm, ReauthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A passkey to confirm identity."""

    event_kind = Kind.PROOF
