"""What can be said of a group: its name (specification: "Member group")."""

from django import forms
from django.utils.translation import gettext_lazy as _

from accessapi.limits import GROUP_NAME_MAX


class NameForm(forms.Form):
    """The name of a new group, or another name for one that is there."""

    membergroup_name = forms.CharField(
        label=_("Group name"),
        max_length=GROUP_NAME_MAX,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
