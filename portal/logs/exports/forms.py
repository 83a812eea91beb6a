from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class ExportForm(forms.Form):
    """The form to choose the file type."""

    kind = forms.ChoiceField(
        label=pgettext_lazy("file", "Format"),
        choices=[("csv", _("CSV")), ("xlsx", _("Excel (XLSX)"))],
        initial="csv",
        widget=forms.RadioSelect,
    )
