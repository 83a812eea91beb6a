"""The form that opens a support session."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext, gettext_lazy

from tenants.support.actions import SESSION_MINUTES


def _limits() -> list[tuple[int, str]]:
    # Translated for each form: a lazy text would fix its value in the language of that moment.
    return [(n, gettext("%d minutes") % n) for n in SESSION_MINUTES]


class EnterForm(forms.Form):
    """The reason and length of a support session."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=200,
        help_text=gettext_lazy("The tenant's owner sees this. Include a ticket number if you have one."),
    )
    minutes = forms.TypedChoiceField(label=gettext_lazy("Time limit"), coerce=int, initial=30, choices=_limits)
