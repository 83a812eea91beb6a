"""What can be said of a group: its name (specification: "Member group")."""

from django import forms

from portal.core.intents.models import Intent
from portal.core.mirror.fields.groups import GROUP_NAME


class NameForm(forms.Form):
    """The name of a new group, or another name for one that is there."""

    membergroup_name = GROUP_NAME.typed(
        strip=True, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )
    refused: Intent | None = None
