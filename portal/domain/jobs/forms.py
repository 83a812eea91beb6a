"""The part of a job's form that all kinds share: when to start, now or at a given time."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

MAX_AHEAD = timedelta(days=5 * 366)


def moment_field(label: Any, **more: Any) -> forms.DateTimeField:
    """Return an optional field for a date and time."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(label=label, required=False, widget=widget, **more)


class StartForm(forms.Form):
    """A form for the start of a change. `starts_at` is None for now."""

    when = forms.ChoiceField(
        label=pgettext_lazy("start", "When"),
        choices=[("now", pgettext_lazy("start", "Now")), ("at", _("Schedule for:"))],
        initial="now",
        widget=forms.RadioSelect,
    )
    at = moment_field(
        _("Date and time"),
        help_text=_("It waits here until then. The person who started it must still have permission at that time."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields([name for name in self.fields if name not in self.last] + self.last)

    #: The fields at the end of the form.
    last: list[str] = ["when", "at"]

    @property
    def starts_at(self) -> datetime | None:
        return self.cleaned_data.get("at") if self.cleaned_data.get("when") == "at" else None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("when") == "at" and "at" not in self.errors:
            self.check_moment("at", _t("Enter a date and time."))
        return cleaned

    def check_moment(self, name: str, missing: str) -> None:
        """Add an error if the date and time are missing, past, or too far in the future."""
        at, now = self.cleaned_data.get(name), timezone.now()
        if at is None:
            self.add_error(name, missing)
        elif at <= now:
            self.add_error(name, _t("This time has passed."))
        elif at - now > MAX_AHEAD:
            self.add_error(name, _t("At most five years ahead."))
