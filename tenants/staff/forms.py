"""Forms of the staff page and of an accepted invitation."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.utils.translation import gettext_lazy as _

from tenants import roles
from tenants.models import User


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
