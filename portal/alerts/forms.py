"""The forms of alerts and of a rule."""

from datetime import time
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.edit_conflicts import ConflictForm
from portal.domain.alerts.models import TEXT_MAX, Severity
from portal.domain.alerts.rules import EffectiveRule, Hours

DAYS = [
    (0, _("Monday")),
    (1, _("Tuesday")),
    (2, _("Wednesday")),
    (3, _("Thursday")),
    (4, _("Friday")),
    (5, _("Saturday")),
    (6, _("Sunday")),
]


class NoteForm(forms.Form):
    """A note on an alert, or the text about what was done when it is closed."""

    text = forms.CharField(
        label=pgettext_lazy("alert", "Note"),
        max_length=TEXT_MAX,
        error_messages={"required": _("Enter a text.")},
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class RuleForm(ConflictForm, forms.Form):
    """A rule: on or off, its severity, its numbers with their limits, and its hours."""

    is_on = forms.BooleanField(label=_("Switched on"), required=False)
    severity = forms.TypedChoiceField(label=_("Severity"), choices=Severity.choices, coerce=int)
    days = forms.TypedMultipleChoiceField(
        label=_("Days (none: always)"),
        choices=DAYS,
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    begin = forms.TimeField(label=pgettext_lazy("hours", "From"), required=False)
    end = forms.TimeField(label=pgettext_lazy("hours", "Until"), required=False)

    def __init__(self, rule: EffectiveRule, data: QueryDict | None = None) -> None:
        hours = rule.hours
        shown: dict[str, Any] = {"is_on": rule.is_on, "severity": int(rule.severity), **rule.values}
        if hours is not None:
            shown |= {"days": list(hours.days), "begin": hours.begin, "end": hours.end}
        super().__init__(data, initial=shown)
        self.rule = rule
        for each in rule.kind.all_settings:
            bounds = _t("From %(least)s to %(most)s.") % {"least": each.minimum, "most": each.maximum}
            self.fields[each.name] = forms.IntegerField(
                label=str(each.label), min_value=each.minimum, max_value=each.maximum, help_text=bounds
            )
        self.order_fields(
            ["is_on", "severity", *(each.name for each in rule.kind.all_settings), "days", "begin", "end"]
        )
        for name in ("begin", "end"):
            self.fields[name].widget.input_type = "time"

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        days, begin, end = (found.get(name) for name in ("days", "begin", "end"))
        if days and not (isinstance(begin, time) and isinstance(end, time)):
            self.add_error("days", _t("Enter from when until when on these days."))
        elif days and begin == end:
            self.add_error("end", _t("Enter another time than the first."))
        elif not days and (begin or end):
            self.add_error("days", _t("Choose the days."))
        if self.rule.kind.has_hours and found.get("is_on") and not days and "days" not in self.errors:
            self.add_error("days", _t("Choose the days and hours when nobody should be there."))
        return found

    @property
    def rule_values(self) -> EffectiveRule:
        """Return the rule with the form's values."""
        said = self.cleaned_data
        hours = Hours(tuple(said["days"]), said["begin"], said["end"]) if said["days"] else None
        values = {each.name: said[each.name] for each in self.rule.kind.all_settings}
        return EffectiveRule(self.rule.kind, said["is_on"], Severity(said["severity"]), values, hours)
