"""Forms to start a roll call, and to add a person by name."""

import uuid

from django import forms
from django.utils.translation import gettext_lazy, pgettext_lazy


class StartForm(forms.Form):
    """The form to start a roll call. The same `nonce` starts only one."""

    name = forms.CharField(label=pgettext_lazy("roll call", "Reason"), max_length=100)
    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)


class PersonForm(forms.Form):
    name = forms.CharField(label=pgettext_lazy("person", "Name"), max_length=100)
    place = forms.CharField(label=gettext_lazy("Last seen where"), max_length=100, required=False)
    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)
