"""allauth's sign-in forms with the portal's texts: one link to a forgotten password, no placeholders as labels."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, LoginForm, ReauthenticateForm, ResetPasswordForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import TOTP
from django.utils.translation import gettext_lazy as _


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
