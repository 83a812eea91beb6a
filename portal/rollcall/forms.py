"""What is asked before a roll call begins, and of somebody who is listed by hand."""

import uuid

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class StartForm(forms.Form):
    """`nonce`: the same form sent twice begins one roll call."""

    name = forms.CharField(label=pgettext_lazy("roll call", "Reason"), max_length=100)
    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)


class PersonForm(forms.Form):
    name = forms.CharField(label=pgettext_lazy("person", "Name"), max_length=100)
    place = forms.CharField(label=_("Last seen where"), max_length=100, required=False)
    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)
