"""Forms of cameras: IDs with names, what a camera covers, and a moment of a recording."""

import re
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.limits import STREAMING_SECONDS_MAX
from portal.base.ui.inputs import line_field, moment_field, set_choices, validate_multiline, validate_visible
from portal.base.ui.shown_values import ConflictForm
from portal.domain.cameras import playback
from portal.domain.cameras.actions import MAX_AT_ONCE
from portal.domain.cameras.models import IDENTIFIER_MAX, NAME_MAX, Camera
from portal.domain.places.models import Area, PassController

_SPLIT = re.compile(r"[,\t、，;]")


class NewForm(forms.Form):
    """New cameras, one per line; cleaned to pairs of ID and name."""

    cameras = forms.CharField(
        label=_("Cameras"),
        max_length=60_000,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        validators=[lambda text: validate_multiline(text.replace("\t", ""))],
        help_text=_("One camera per line: ID, comma, name. Copy the IDs from the member site."),
        error_messages={"required": _("Enter the ID of a camera.")},
    )

    def clean_cameras(self) -> list[tuple[str, str]]:
        found: dict[str, str] = {}
        for number, text in enumerate(self.cleaned_data["cameras"].splitlines(), start=1):
            if not text.strip():
                continue
            camera_id, name = (part.strip() for part in (*_SPLIT.split(text, maxsplit=1), "")[:2])
            self._check(number, camera_id, name, found)
            found[camera_id] = name
        if not found:
            raise forms.ValidationError(_t("Enter the ID of a camera."))
        if len(found) > MAX_AT_ONCE:
            raise forms.ValidationError(_t("Enter at most %(n)d cameras at once.") % {"n": MAX_AT_ONCE})
        return list(found.items())

    @staticmethod
    def _check(number: int, camera_id: str, name: str, found: dict[str, str]) -> None:
        if not camera_id:
            raise forms.ValidationError(_t("Line %(line)d has no ID.") % {"line": number})
        if len(camera_id) > IDENTIFIER_MAX or any(each.isspace() for each in camera_id):
            message = _t("Line %(line)d: an ID has no spaces and at most %(most)d characters.")
            raise forms.ValidationError(message % {"line": number, "most": IDENTIFIER_MAX})
        if len(name) > NAME_MAX:
            message = _t("Line %(line)d: a name has at most %(most)d characters.")
            raise forms.ValidationError(message % {"line": number, "most": NAME_MAX})
        if camera_id in found:
            raise forms.ValidationError(_t("Line %(line)d repeats the ID of an earlier line.") % {"line": number})


class EditForm(ConflictForm, forms.Form):
    """A camera's name and the doors and areas that it covers."""

    name = line_field(
        pgettext_lazy("camera", "Name"),
        NAME_MAX,
        _("Enter a name, for example “Front entrance”."),
        validators=[validate_visible],
    )
    doors = forms.MultipleChoiceField(label=_("Doors in view"), required=False, widget=forms.CheckboxSelectMultiple)
    areas = forms.MultipleChoiceField(label=_("Areas in view"), required=False, widget=forms.CheckboxSelectMultiple)
    is_intercom = forms.BooleanField(
        label=pgettext_lazy("camera", "Intercom"),
        required=False,
        help_text=_("Guards and receptionists see this camera under Intercom and can unlock its doors there."),
    )

    def __init__(self, camera: Camera, posted: QueryDict | None = None) -> None:
        known = {"name": camera.name, "doors": camera.doors, "areas": camera.areas}
        initial = known | {"is_intercom": camera.is_intercom}
        super().__init__(posted, initial=initial)
        doors = {door.device_id: str(door) for door in PassController.objects.order_by("name_order", "pk")}
        areas = {area.area_id: str(area) for area in Area.objects.order_by("name_order", "pk")}
        set_choices(self, doors=_with_gone(doors, camera.doors), areas=_with_gone(areas, camera.areas))


class SettingsForm(ConflictForm, forms.Form):
    """The tenant's camera settings."""

    wanted = forms.BooleanField(
        label=_("Pictures before and after door commands"),
        required=False,
        help_text=_("From the cameras that cover the door. Uses 2 more device API calls per command."),
    )


def _with_gone(named: dict[str, str], chosen: list[str]) -> list[tuple[str, str]]:
    """Return the choices, then those of the camera that the service no longer lists."""
    deleted = {each: _t("%(id)s (no longer listed)") % {"id": each} for each in chosen if each not in named}
    return list((named | deleted).items())


class MomentForm(forms.Form):
    """A moment of the recordings, which are kept for 90 days."""

    at = moment_field(_("Date and time"), required=True)
    seconds = forms.IntegerField(min_value=5, max_value=STREAMING_SECONDS_MAX, required=False)

    def clean_at(self) -> Any:
        return playback.validate_moment(self.cleaned_data["at"])
