"""Presets: the form, and what a manager does with them. The portal's own; the service hears nothing of it."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.intents.actions import Asker
from portal.core.mirror.fields.guests import AREAS, GRACE, KEYS, REMARKS
from portal.core.ui import inputs
from portal.core.visits.models import Preset
from portal.guests import fields, places
from portal.guests.places import Places
from tenants import audit
from tenants.wording import say

_LONGEST_MINUTES = 366 * 24 * 60
_COLUMNS = ("name", "name_ja", "area_ids", "keys", "minutes", "until", "grace_minutes", "remarks_ja", "remarks_en",
            "arrives")  # fmt: skip


class PresetForm(forms.Form):
    """What a preset is made of. `columns()` are the model's values."""

    name = inputs.line(
        pgettext_lazy("preset", "Name"), 60, pgettext_lazy("preset", "Enter a name."), validators=[inputs.seen]
    )
    name_ja = inputs.line(_("Name in Japanese"), 60)
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
    area_ids = fields.Areas(AREAS.label)
    keys = fields.Keys(KEYS.label)
    grace_minutes = GRACE.typed()
    remarks_ja = REMARKS.typed(label=_("Remarks in Japanese"))
    remarks_en = REMARKS.typed(label=_("Remarks in English"))

    def __init__(self, *args: Any, known: Places, preset: Preset | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {**_values(preset), **self.initial}
        self.fields["area_ids"].choices = known.area_choices(preset.area_ids if preset else ())
        self.fields["keys"].choices = known.key_choices(places.values_of(preset.keys) if preset else ())

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


def _values(preset: Preset | None) -> dict[str, Any]:
    if preset is None:
        return {"ends": "minutes", "minutes": 120, "grace_minutes": 0, "arrives": True}
    values = {name: getattr(preset, name) for name in _COLUMNS}
    return values | {"ends": "until" if preset.until else "minutes", "keys": places.values_of(preset.keys)}


def save(*, preset: Preset | None, columns: Mapping[str, Any], by: Asker) -> Preset:
    """Keep a new preset, last in the order (the first one is the default), or a changed one."""
    with transaction.atomic():
        before = shown(preset) if preset is not None else None
        if preset is None:
            last = Preset.objects.aggregate(last=Max("position"))["last"]
            preset = Preset(position=0 if last is None else last + 1, is_default=last is None)
        for name, value in columns.items():
            setattr(preset, name, value)
        preset.save()
        _written(preset, by, "preset.saved", before=before, after=shown(preset))
    return preset


def delete(*, preset: Preset, by: Asker) -> None:
    """Forget it; if it was the default, the first of the others becomes that."""
    with transaction.atomic():
        _written(preset, by, "preset.deleted", before=shown(preset), after=None)
        was_default = preset.is_default
        preset.delete()
        first = Preset.objects.order_by("position", "pk").first()
        if was_default and first is not None:
            Preset.objects.filter(pk=first.pk).update(is_default=True)


def make_default(*, preset: Preset, by: Asker) -> None:
    with transaction.atomic():
        list(Preset.objects.select_for_update().order_by("pk"))
        Preset.objects.filter(is_default=True).update(is_default=False)
        Preset.objects.filter(pk=preset.pk).update(is_default=True)
        _written(preset, by, "preset.default", before=None, after={"default": preset.name})


def move(*, preset: Preset, up: bool) -> None:
    """One place up or down in the order."""
    with transaction.atomic():
        rows = list(Preset.objects.select_for_update().order_by("position", "pk"))
        here = next((place for place, row in enumerate(rows) if row.pk == preset.pk), None)
        there = None if here is None else here + (-1 if up else 1)
        if here is None or there is None or not 0 <= there < len(rows):
            return
        rows[here], rows[there] = rows[there], rows[here]
        for place, row in enumerate(rows):
            row.position = place
        Preset.objects.bulk_update(rows, ["position"])


def shown(preset: Preset) -> dict[str, Any]:
    """As the audit trail holds it."""
    values = {name: getattr(preset, name) for name in _COLUMNS}
    return values | {"until": f"{preset.until:%H:%M}" if preset.until else None}


def _written(preset: Preset, by: Asker, action: str, *, before: Any, after: Any) -> None:
    audit.record(
        tenant=by.tenant,
        by=by.user,
        action=action,
        target=f"preset:{preset.pk}",
        summary=say(action, name=preset.name),
        before=before,
        after=after,
        support_session=by.support_session,
    )
