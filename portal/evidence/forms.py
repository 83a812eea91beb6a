"""Forms of incidents: title and times, notes, a camera's picture, holds, and the retention time."""

from datetime import date, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.inputs import line_field, moment_field, set_choices, validate_multiline
from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.times import today
from portal.domain.cameras import playback
from portal.domain.cameras.models import Camera
from portal.evidence.models import NOTE_MAX, TITLE_MAX, Incident

DAYS_LEAST, DAYS_MOST = 30, 3_650
# The most incidents to choose from.
_OFFERED = 50


class IncidentForm(forms.Form):
    """The title of an incident and its times."""

    title = line_field(
        pgettext_lazy("incident", "What happened"),
        TITLE_MAX,
        _("Enter what happened."),
        help_text=_("One line, for example “Side door forced open”."),
    )
    began_at = moment_field(pgettext_lazy("incident", "From"), required=True)
    ended_at = moment_field(pgettext_lazy("incident", "Until"), help_text=_("Leave empty if it was a single moment."))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        began, ended = cleaned.get("began_at"), cleaned.get("ended_at")
        if began and ended and ended < began:
            self.add_error("ended_at", _("The end is before the beginning."))
        return cleaned


class EditForm(ConflictForm, IncidentForm):
    """The form that changes an existing incident."""


class NoteForm(forms.Form):
    text = forms.CharField(
        label=pgettext_lazy("evidence", "Note"),
        max_length=NOTE_MAX,
        widget=forms.Textarea(attrs={"rows": 3}),
        validators=[validate_multiline],
        error_messages={"required": _("Enter a note.")},
    )


class PictureForm(forms.Form):
    """A camera and a moment in the past."""

    camera = forms.ChoiceField(
        label=pgettext_lazy("evidence", "Camera"), error_messages={"required": _("Choose a camera.")}
    )
    at = moment_field(_("Date and time"), required=True)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        cameras = Camera.objects.order_by("name_order", "pk").only("pk", "tenant_id", "name", "camera_id")
        set_choices(self, camera=[(str(each.pk), str(each)) for each in cameras])

    def clean_at(self) -> Any:
        return playback.validate_moment(self.cleaned_data["at"])


class ChooseForm(forms.Form):
    """The choice of an open incident among the newest."""

    incident = forms.ChoiceField(label=_("Incident"), error_messages={"required": _("Choose an incident.")})

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        rows = Incident.objects.filter(closed_at=None).order_by("-number").only("number", "title", "tenant_id")
        self.has_choices = bool(found := [(str(each.number), _incident_name(each)) for each in rows[:_OFFERED]])
        set_choices(self, incident=found)


def _incident_name(incident: Incident) -> str:
    return _t("Incident %(number)d: %(title)s") % {"number": incident.number, "title": incident}


class CloseForm(forms.Form):
    """The day until which a closed incident is kept."""

    keep_until = forms.DateField(
        label=_("Keep until"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"required": _("Enter a date."), "invalid": _("Enter a date.")},
    )

    def clean_keep_until(self) -> date:
        day: date = self.cleaned_data["keep_until"]
        if not today() <= day <= today() + timedelta(days=DAYS_MOST):
            raise forms.ValidationError(_("Choose a day from today to ten years from now."))
        return day


class HoldForm(forms.Form):
    """The reason for a legal hold."""

    reason = line_field(_("Reason"), TITLE_MAX, _("Enter a reason."))


class SettingsForm(ConflictForm, forms.Form):
    """The number of days for which closed incidents are kept."""

    days = forms.IntegerField(label=_("Keep closed incidents for (days)"), min_value=DAYS_LEAST, max_value=DAYS_MOST)


def initial_values(incident: Incident) -> dict[str, Any]:
    """Return the initial values of an incident's form."""
    return {"title": incident.title, "began_at": incident.began_at, "ended_at": incident.ended_at}
