"""Forms of the connection page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _


def _header_safe(value: str) -> None:
    if not value.isascii() or not value.isprintable():
        raise ValidationError(_("Use letters, digits and signs of ASCII only."))


class LicenceKeyForm(forms.Form):
    """The key that the vendor issues for remote operation, or its removal: `value` then cleans to None.

    Removing is offered only if a key is `stored`.
    """

    value = forms.CharField(
        label=_("Licence key"),
        max_length=500,
        required=False,
        validators=[_header_safe],
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    remove = forms.BooleanField(label=_("Remove the stored value"), required=False)

    def __init__(self, *args: Any, stored: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["value"].required = not self.data.get(self.add_prefix("remove"))
        self.fields["value"].error_messages["required"] = _("Enter the value, or choose to remove the stored one.")
        if not stored:
            del self.fields["remove"]

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        if cleaned.get("remove"):
            cleaned["value"] = None
        return cleaned
