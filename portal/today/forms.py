"""The form of the desk's settings."""

from typing import ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.base.ui.shown_values import ConflictForm
from portal.domain.visits.models import DeskSettings

# The service keeps guests for a week after the end. With fewer days, names would come back with the next list.
LEAST_DAYS, MOST_DAYS = 8, 3650
MOST_LINK_MINUTES = 525_600


class SettingsForm(ConflictForm, forms.ModelForm):  # type: ignore[type-arg]  # takes an argument in the stubs only
    """The form for the desk's settings."""

    keep_days = forms.IntegerField(
        label=_("Days to keep guests’ personal data"),
        min_value=LEAST_DAYS,
        max_value=MOST_DAYS,
        help_text=_(
            "Counted from the end of the visit. After that, name, company, host and e-mail are "
            "deleted; monthly figures still include the visit."
        ),
        error_messages={"invalid": _("Enter a whole number of days."), "required": _("Enter a whole number of days.")},
    )

    link_minutes = forms.IntegerField(
        label=_("Link expires after (minutes)"),
        required=False,
        min_value=0,
        max_value=MOST_LINK_MINUTES,
        help_text=_("0: as long as the code is valid."),
        error_messages={"max_value": _("At most a year: 525600 minutes.")},
    )

    class Meta:
        model = DeskSettings
        fields: ClassVar = ["arrives_by_history", "delivery", "link_minutes", "keep_days"]
        labels: ClassVar = {
            "arrives_by_history": _("Check in at first use of the code"),
            "delivery": _("How codes reach guests"),
        }
        help_texts: ClassVar = {
            "arrives_by_history": _("If off, check-in is suggested and the desk confirms it with one click."),
        }
        widgets: ClassVar = {"delivery": forms.RadioSelect}

    def clean_link_minutes(self) -> int:
        """Return the minutes; 0 for an empty field, which means no separate limit."""
        return int(self.cleaned_data["link_minutes"] or 0)
