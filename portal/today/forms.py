"""How a tenant's desk works."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.core.visits.models import DeskSettings

# The service itself keeps a guest for a week after the end: until then a name would only come back with the next list.
LEAST_DAYS, MOST_DAYS = 8, 3650


class SettingsForm(forms.ModelForm):
    """The desk's settings, in the order in which somebody asks for them."""

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

    class Meta:
        model = DeskSettings
        fields: ClassVar = ["arrives_by_history", "delivery", "link_minutes", "keep_days"]
        labels: ClassVar = {
            "arrives_by_history": _("Check in at first use of the code"),
            "delivery": _("How codes reach guests"),
            "link_minutes": _("Link expires after (minutes)"),
        }
        help_texts: ClassVar = {
            "arrives_by_history": _("If off, check-in is suggested and the desk confirms it with one click."),
            "link_minutes": _("0: as long as the code is valid."),
        }
        widgets: ClassVar = {"delivery": forms.RadioSelect}

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["link_minutes"].max_value = 525_600
        self.fields["link_minutes"].min_value = 0
        self.fields["link_minutes"].required = False

    def clean_link_minutes(self) -> int:
        """An empty field means no limit of its own. Raises ValidationError past a year."""
        value = self.cleaned_data.get("link_minutes") or 0
        if value > 525_600:
            raise forms.ValidationError(_("At most a year: 525600 minutes."))
        return int(value)
