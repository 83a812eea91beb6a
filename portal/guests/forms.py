"""The forms that change a guest or a preset, and the choice of areas and keys."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import model_to_dict
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi import limits
from accessapi.limits import JST
from accessapi.resources import write_moment
from portal.base.ui import inputs
from portal.base.ui.shown_values import ConflictForm, ShownValuesForm, add_conflicts
from portal.domain.people.fields import Field
from portal.domain.people.guest_fields import (
    AREAS,
    CODE,
    DETAIL_FIELDS,
    EMAIL,
    END,
    GRACE,
    GUEST_NAME,
    KEYS,
    REMARKS,
    START,
)
from portal.domain.people.models import Guest
from portal.domain.visits.models import Preset, Visit
from portal.guests import hours, places
from portal.guests.issuing import new_code
from portal.guests.places import GuestPlaces, Host, host_of


class AreasField(forms.MultipleChoiceField):
    """Areas as check boxes, limited to the service's maximum."""

    most, too_many = limits.GUEST_AREAS_MAX, _("You can select at most %(n)d areas. Deselect some.")

    def __init__(self, label: Any) -> None:
        messages = {"invalid_choice": _("A selected area no longer exists. Choose again.")}
        super().__init__(label=label, required=False, widget=forms.CheckboxSelectMultiple, error_messages=messages)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if len(set(value)) > self.most:
            raise ValidationError(self.too_many, params={"n": self.most})


class KeysField(AreasField):
    """Keys as check boxes, grouped by key box and limited to the service's maximum of boxes."""

    most, too_many = limits.GUEST_KEY_DEVICES_MAX, _("You can select keys from at most %(n)d key boxes.")

    def validate(self, value: Any) -> None:
        forms.MultipleChoiceField.validate(self, value)
        if len({each.partition("@")[2] for each in value}) > self.most:
            raise ValidationError(self.too_many, params={"n": self.most})


GuestValues = dict[str, Any]
_PLAIN_FIELDS = (GUEST_NAME, EMAIL, GRACE, REMARKS)
_MOMENT_FIELDS = {"start": START, "end": END}
# Fields that only the portal stores.
_PORTAL_FIELDS = ("company", "host")


class ChangeForm(ShownValuesForm):
    """The form that changes a guest.

    `body()` returns what differs from the values that the person saw (`seen`, signed into the form). Values that others
    changed since are neither sent nor overwritten. Areas and keys that were added or removed are applied to the current
    lists. Fields that were never read are left out and do not change.
    """

    name = GUEST_NAME.form_field(strip=True, validators=[inputs.validate_visible])
    start = START.form_field(required=True)
    end = END.form_field(required=True)
    grace_minutes = GRACE.form_field()
    area_ids = AreasField(AREAS.label)
    keys = KeysField(KEYS.label)
    company = inputs.line_field(_("Company"), 100)
    host = inputs.line_field(_("Host"), 100)
    email = EMAIL.form_field(help_text=_("Stored with the guest. No e-mail is sent again."))
    remarks = REMARKS.form_field()
    new_code = forms.BooleanField(
        label=_("Replace the code"),
        required=False,
        help_text=_("The portal creates a new code. The old one and its links stop working."),
    )
    revive = forms.BooleanField(label=_("Reactivate the code"), required=False)
    would_reactivate = False

    def __init__(self, *args: Any, visit: Visit, guest: Guest, known: GuestPlaces, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visit, self.guest = visit, guest
        self.current = guest_values(visit, guest)
        self.set_shown(f"guest {visit.guest_id}", self.current)
        self.initial = {**form_values(self.shown_values), **self.initial}
        areas, keys = known.area_choices(self.initial["area_ids"]), known.key_choices(self.initial["keys"])
        inputs.set_choices(self, area_ids=areas, keys=keys)
        for each in DETAIL_FIELDS:
            if self.shown_values.get(each.name) is None:
                del self.fields[each.input_name]
        if not visit.is_cut:
            del self.fields["revive"]
        self.replacement = new_code()

    @property
    def unknown_labels(self) -> list[str]:
        """Return the labels of fields that were never read, so this form cannot change them."""
        return [str(each.label) for each in DETAIL_FIELDS if each.input_name not in self.fields]

    # Cleaning

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"])
        if not email and self.shown_values.get("email"):
            raise forms.ValidationError(_("The e-mail address cannot be removed. Enter another one."))
        return email

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        add_conflicts(self, self._entered(), self.current, form_values(self.current))
        for name in _PORTAL_FIELDS:
            self.merge(name, self.current[name])
        start, end = cleaned.get("start"), cleaned.get("end")
        if start and end and end < start:
            self.add_error("end", _t("The end is before the start."))
        return cleaned

    def _entered(self) -> list[tuple[Field, str, Any]]:
        """Return the field, input name and value of each valid input, without areas and keys."""
        cleaned = self.cleaned_data
        fields = {**{each.input_name: each for each in _PLAIN_FIELDS}, **_MOMENT_FIELDS}
        return [(each, name, each.value_of_input(cleaned[name])) for name, each in fields.items() if name in cleaned]

    @property
    def merged_labels(self) -> list[str]:
        """Return the labels of lists that another person also changed while this form was open.

        Both changes are kept.
        """
        lists = [each for each in (AREAS, KEYS) if self.shown_values.get(each.name) is not None]
        both = [each for each in lists if not each.is_same(self.shown_values[each.name], self.current.get(each.name))]
        return [str(each.label) for each in both if each.name in self.body()]

    @property
    def chosen_host(self) -> Host:
        typed = self.cleaned_data["host"]
        if typed == self.visit.host_name:
            return Host(self.visit.host_name, self.visit.host_member_id)
        return host_of(typed)

    def body(self) -> dict[str, Any]:
        """Return only the changed fields, under the specification's names."""
        cleaned = self.cleaned_data
        body: dict[str, Any] = {
            each.name: value
            for each, _name, value in self._entered()
            if not each.is_same(value, self.shown_values.get(each.name))
        }
        if AREAS.input_name in cleaned:
            areas = _merged(self.shown_values[AREAS.name], cleaned[AREAS.input_name], self.current.get(AREAS.name))
            body |= {AREAS.name: areas} if areas is not None else {}
        if KEYS.input_name in cleaned:
            shown_keys, current_keys = (
                places.values_of(each.get(KEYS.name)) for each in (self.shown_values, self.current)
            )
            keys = _merged(shown_keys, cleaned[KEYS.input_name], current_keys)
            body |= {KEYS.name: places.keys_of(keys)} if keys is not None else {}
        if cleaned.get("new_code"):
            body[CODE.name] = self.replacement
        return body


def _merged(shown: list[str], chosen: list[str], current: list[str] | None) -> list[str] | None:
    """Return the current values with a person's additions and removals applied; None if they changed nothing."""
    added = [each for each in chosen if each not in shown]
    taken = {each for each in shown if each not in chosen}
    if not added and not taken:
        return None
    remaining = [each for each in (shown if current is None else current) if each not in taken]
    return [*remaining, *(each for each in added if each not in remaining)]


def guest_values(visit: Visit, guest: Guest) -> GuestValues:
    """Return a guest's fields in the specification's notation; None for fields that were never read."""
    detail = guest.detail if isinstance(guest.detail, dict) else {}
    start, end = guest.use_date_start or visit.use_date_start, guest.use_date_end or visit.use_date_end
    return {
        GUEST_NAME.name: guest.guest_name or visit.guest_name,
        EMAIL.name: guest.email or "",
        START.name: write_moment(start),
        END.name: write_moment(end),
        **{each.name: detail.get(each.name) for each in DETAIL_FIELDS},
        "company": visit.company,
        "host": visit.host_name,
    }


def form_values(values: GuestValues) -> dict[str, Any]:
    """Return the form's initial values for these guest values."""
    return {
        **{each.input_name: values.get(each.name) for each in _PLAIN_FIELDS},
        **{field: datetime.fromisoformat(values[each.name]) for field, each in _MOMENT_FIELDS.items()},
        AREAS.input_name: values.get(AREAS.name) or [],
        KEYS.input_name: places.values_of(values.get(KEYS.name)),
        **{name: values.get(name, "") for name in _PORTAL_FIELDS},
    }


class ExtendForm(forms.Form):
    """The form for a later end: +30 minutes, +1 hour, closing time, or a typed time."""

    to = forms.ChoiceField(
        required=False, choices=[("30", "30"), ("60", "60"), ("closing", "closing"), ("until", "until")]
    )
    until = inputs.line_field(_("Until"), 40)
    seen_end = inputs.line_field("", 40)
    revive = forms.BooleanField(label=_("Reactivate the code"), required=False)
    would_reactivate = False

    def __init__(self, *args: Any, visit: Visit, presets: list[Preset], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visit = visit
        self.now = hours.now()
        self.closing = closing_time(presets, self.now)

    @property
    def extends_from(self) -> datetime:
        """Return the moment to extend from: the end, or now if it has passed."""
        return max(self.visit.use_date_end.astimezone(JST), self.now)

    @property
    def buttons(self) -> list[tuple[str, str, str]]:
        """Return (value, label, resulting time) of each button."""
        found = [
            (str(n), word, hours.format_end(self._end_after(n), self.now)) for n, word in ((30, "+30"), (60, "+60"))
        ]
        if self.closing is not None and self.closing > self.extends_from:
            found.append(("closing", _t("closing"), hours.format_end(self.closing, self.now)))
        return found

    @property
    def end_reading(self) -> hours.EndReading | None:
        """Return how the shown text of the end is read."""
        return hours.describe_end(str(self["until"].value() or ""), self.now)

    def _end_after(self, minutes: int) -> datetime:
        return (self.extends_from + timedelta(minutes=minutes)).replace(second=0)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            cleaned["end"] = self._parse_end(cleaned)
        return cleaned

    def _parse_end(self, cleaned: dict[str, Any]) -> datetime | None:
        if cleaned.get("to") in ("30", "60"):
            return self._end_after(int(cleaned["to"]))
        if cleaned.get("to") == "closing" and self.closing is not None:
            if self.closing <= self.extends_from:  # the page was open for long, or another desk was faster
                self.add_error("until", _t("Closing time is not later than the current end time. Nothing was changed."))
            return self.closing
        try:
            end = hours.parse_end(cleaned.get("until") or "", self.now, seen=cleaned.get("seen_end", ""))
            inputs.validate_year(end)
        except ValidationError as error:
            self.add_error("until", error)
            return None
        if end <= self.visit.use_date_start:
            self.add_error("until", _t("The end is before the start."))
        return end

    def body(self) -> dict[str, Any]:
        return {END.name: write_moment(self.cleaned_data["end"])}


def closing_time(presets: list[Preset], now: datetime) -> datetime | None:
    """Return today's closing time: when the default preset ends, or else the first preset that has a time of day."""
    timed = sorted((p for p in presets if p.until is not None), key=lambda p: not p.is_default)
    if not timed or timed[0].until is None:
        return None
    return datetime.combine(now.date(), timed[0].until, JST)


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
        error_messages={
            "invalid": _("Enter a whole number of minutes."),
            "max_value": pgettext_lazy("preset", "Enter at most one year."),
        },
    )  # fmt: skip
    until = forms.TimeField(
        label=_("Time of day"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text=inputs.ENDS_NEXT_DAY,
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
        cleaned = super().clean() or {}
        ending = cleaned.get("ends")
        if ending == "minutes" and cleaned.get("minutes") is None and "minutes" not in self.errors:
            self.add_error("minutes", _t("Enter the minutes."))
        if ending == "until" and cleaned.get("until") is None and "until" not in self.errors:
            self.add_error("until", _t("Enter the time."))
        return cleaned

    def columns(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        timed = cleaned["ends"] == "until"
        return {
            **{name: cleaned[name] for name in ("name", "name_ja", "area_ids", "remarks_ja", "remarks_en", "arrives")},
            "keys": places.keys_of(cleaned["keys"]),
            "minutes": None if timed else cleaned["minutes"],
            "until": cleaned["until"] if timed else None,
            "grace_minutes": cleaned["grace_minutes"] or 0,
        }


def _preset_values(preset: Preset | None) -> dict[str, Any]:
    if preset is None:
        return {"ends": "minutes", "minutes": 120, "grace_minutes": 0, "arrives": True}
    return model_to_dict(preset) | {
        "ends": "until" if preset.until else "minutes",
        "keys": places.values_of(preset.keys),
    }
