"""The form of a preset."""

from typing import Any

from django import forms
from django.forms.models import model_to_dict
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui import inputs
from portal.base.ui.edit_conflicts import ConflictForm
from portal.domain.mirror.fields.guests import AREAS, GRACE, KEYS, REMARKS
from portal.domain.visits.models import Preset
from portal.guests import places
from portal.guests.forms import AreasField, KeysField
from portal.guests.places import GuestPlaces

_LONGEST_MINUTES = 366 * 24 * 60


class PresetForm(ConflictForm, forms.Form):
    """The form of a preset. `columns()` returns the model's values."""

    name = inputs.line_field(
        pgettext_lazy("preset", "Name"),
        60,
        pgettext_lazy("preset", "Enter a name."),
        validators=[inputs.validate_visible],
    )
    name_ja = inputs.line_field(_("Name in Japanese"), 60)
    ends = forms.ChoiceField(
        label=_("Code ends"),
        widget=forms.RadioSelect,
        choices=[("minutes", _("after a set time")), ("until", _("at a time of day"))],
    )
    minutes = forms.IntegerField(
        label=_("Minutes from the start"), min_value=1, max_value=_LONGEST_MINUTES, required=False,
        error_messages={"invalid": _("Enter a whole number of minutes.")},
    )  # fmt: skip
    until = forms.TimeField(
        label=_("Time of day"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text=_("If the time has passed, the next day is used."),
    )
    arrives = forms.BooleanField(
        label=_("Check in when the code is issued"),
        required=False,
        help_text=_("For guests at the desk. Not for codes that start later or are sent by e-mail."),
    )
    area_ids = AreasField(AREAS.label)
    keys = KeysField(KEYS.label)
    grace_minutes = GRACE.form_field()
    remarks_ja = REMARKS.form_field(label=_("Remarks in Japanese"))
    remarks_en = REMARKS.form_field(label=_("Remarks in English"))

    def __init__(self, *args: Any, known: GuestPlaces, preset: Preset | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {**_preset_values(preset), **self.initial}
        used, keys = self.initial.get("area_ids", ()), self.initial.get("keys", ())
        inputs.set_choices(self, area_ids=known.area_choices(used), keys=known.key_choices(keys))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        way = given.get("ends")
        if way == "minutes" and given.get("minutes") is None and "minutes" not in self.errors:
            self.add_error("minutes", _t("Enter the minutes."))
        if way == "until" and given.get("until") is None and "until" not in self.errors:
            self.add_error("until", _t("Enter the time."))
        return given

    def columns(self) -> dict[str, Any]:
        given = self.cleaned_data
        timed = given["ends"] == "until"
        return {
            **{name: given[name] for name in ("name", "name_ja", "area_ids", "remarks_ja", "remarks_en", "arrives")},
            "keys": places.keys_of(given["keys"]),
            "minutes": None if timed else given["minutes"],
            "until": given["until"] if timed else None,
            "grace_minutes": given["grace_minutes"] or 0,
        }


def _preset_values(preset: Preset | None) -> dict[str, Any]:
    if preset is None:
        return {"ends": "minutes", "minutes": 120, "grace_minutes": 0, "arrives": True}
    return model_to_dict(preset) | {
        "ends": "until" if preset.until else "minutes",
        "keys": places.values_of(preset.keys),
    }
