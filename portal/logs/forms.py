"""The forms of exports and of saved searches."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.shown_values import ConflictForm
from portal.logs.models import NAME_MAX


class ExportForm(forms.Form):
    """The form to choose the file type."""

    kind = forms.ChoiceField(
        label=pgettext_lazy("file", "Format"),
        choices=[("csv", _("CSV")), ("xlsx", _("Excel (XLSX)"))],
        initial="csv",
        widget=forms.RadioSelect,
    )


class SearchNameForm(forms.Form):
    """The form for the name of a saved search."""

    name = forms.CharField(
        label=pgettext_lazy("search", "Name"),
        max_length=NAME_MAX,
        error_messages={"required": pgettext_lazy("search", "Enter a name.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class RenameSearchForm(ConflictForm, SearchNameForm):
    """The form to rename a saved search."""
