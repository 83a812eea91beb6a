"""The filter of the audit log."""

from __future__ import annotations

from datetime import date

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tenants import sentences
from tenants.audit_log.queries import AuditFilter
from tenants.sentences import TEXTS

Choices = list[tuple[str, str | Promise]]


def _subjects() -> Choices:
    return [("", _("All")), *((key, each.title) for key, each in sentences.subjects().items())]


def _results() -> Choices:
    words = {code.removeprefix("outcome."): word for code, word in TEXTS.items() if code.startswith("outcome.")}
    return [("", _("All")), *words.items()]


class AuditFilterForm(forms.Form):
    """The filter's fields, all optional. An invalid value gets an error and is left out of the filter."""

    about = forms.ChoiceField(label=pgettext_lazy("audit log", "About"), required=False, choices=_subjects)
    result = forms.ChoiceField(label=_("Result"), required=False, choices=_results)
    person = forms.CharField(label=_("Who"), max_length=80, required=False)
    target = forms.CharField(label=_("Target"), max_length=200, required=False)
    since = forms.DateField(
        label=pgettext_lazy("day", "From"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    until = forms.DateField(
        label=pgettext_lazy("day", "To"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    support_only = forms.BooleanField(label=_("Support sessions only"), required=False)

    def clean_until(self) -> date | None:
        until: date | None = self.cleaned_data["until"]
        if until is not None and until.year >= date.max.year:
            raise forms.ValidationError(_("Choose an earlier day."))
        return until

    def chosen(self) -> AuditFilter:
        self.is_valid()
        return AuditFilter(**{name: value for name, value in self.cleaned_data.items() if value})
