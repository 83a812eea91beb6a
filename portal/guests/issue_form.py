"""The desk's form for new guests. Most values come from a preset, an earlier visit or the page's address."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import get_language
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi import limits
from portal.base.ui import inputs
from portal.base.ui.value_words import join_values
from portal.domain.intents.models import Intent
from portal.domain.people.guest_fields import AREAS, EMAIL, GRACE, GUEST_NAME, KEYS, METHOD, REMARKS, RESERVE, START
from portal.domain.visits import queries
from portal.domain.visits.models import DeskSettings, Preset, Stage, Visit
from portal.guests import hours, places
from portal.guests.forms import AreasField, KeysField
from portal.guests.issuing import CodeClash, CodeOrder
from portal.guests.places import GuestPlaces, host_of

_Values = dict[str, Any]
# Fields that a preset fills in. A field left as the shown preset had it follows the preset that is chosen later.
PRESET_FIELDS = ("until", "area_ids", "keys", "grace_minutes", "remarks")
MOST_GUESTS = 50


class LinesField(inputs.TextField):
    """A field for names, one per line; cleaned to a list without empty lines."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            widget=forms.Textarea(attrs={"rows": 3}), required=False, validators=[inputs.validate_multiline], **more
        )

    def clean(self, value: Any) -> list[str]:
        names = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(names) >= MOST_GUESTS:
            raise ValidationError(
                _("A visit can have at most %(n)d guests. Issue codes for the others separately."),
                params={"n": MOST_GUESTS},
            )
        long = [str(place) for place, name in enumerate(names, 1) if len(name) > limits.GUEST_NAME_MAX]
        for name in names:
            inputs.validate_visible(name)
        if long:
            text = _("Names can have at most %(most)d characters. Too long: line %(lines)s.")
            raise ValidationError(text, params={"most": limits.GUEST_NAME_MAX, "lines": join_values(long)})
        return names


@dataclass(frozen=True)
class DeskData:
    """The presets, places and settings that the form needs, read once."""

    presets: list[Preset]
    places: GuestPlaces
    settings: DeskSettings

    def preset(self, number: str) -> Preset | None:
        return next((preset for preset in self.presets if str(preset.pk) == number), None)

    @property
    def default(self) -> Preset | None:
        return queries.default_preset(self.presets)


def preset_values(preset: Preset | None, start: datetime, language: str) -> _Values:
    """Return the form's values from a preset, for a code that begins at `start`."""
    end = hours.format_end(hours.end_of(preset, start), start)
    if preset is None:
        return {"until": end, "area_ids": [], "keys": [], "grace_minutes": 0, "remarks": ""}
    text = preset.remarks_ja if language == "ja" else preset.remarks_en
    return {
        "until": end,
        "area_ids": list(preset.area_ids),
        "keys": places.values_of(preset.keys),
        "grace_minutes": preset.grace_minutes,
        "remarks": text or preset.remarks_ja or preset.remarks_en,
    }


class IssueForm(forms.Form):
    """The form for one guest, or several guests of one visit. `orders()` returns the codes to issue.

    A field of PRESET_FIELDS that still has the value of `shown_preset` takes the chosen preset's value when the form is
    sent. So the areas follow the chosen preset even without script. A page that was open for an hour does not shorten
    the code.

    `clash`, `refused` and `issued_visits` hold the reasons why a valid form was not accepted.
    """

    name = GUEST_NAME.form_field(strip=True, validators=[inputs.validate_visible])
    until = inputs.line_field(_("Until"), 40, help_text=_("18:00 or 1800, +90 for minutes, 2h, 11-22 9:00."))
    seen_end = inputs.line_field("", 40)
    preset = forms.ChoiceField(label=_("Preset"), required=False, widget=forms.RadioSelect)
    others = LinesField(
        label=_("Other guests on this visit"), help_text=_("One name per line. Each guest gets their own code.")
    )
    start = START.form_field(help_text=_("Leave empty for now."))
    company = inputs.line_field(_("Company"), 100)
    host = inputs.line_field(
        _("Host"), 100, help_text=_("The person they visit. A member's name is linked to that member.")
    )
    delivery = forms.ChoiceField(
        label=_("Delivery"),
        required=False,
        widget=forms.RadioSelect,
        choices=[("direct", _("At the desk (screen, print or link)")), ("mail", _("Sent by e-mail"))],
    )
    email = EMAIL.form_field()
    language = forms.ChoiceField(
        label=_("Guest's language"),
        required=False,
        widget=forms.RadioSelect,
        choices=[("ja", _("Japanese")), ("en", _("English"))],
    )
    remarks = REMARKS.form_field(label=_("Remarks in the e-mail"))
    area_ids = AreasField(AREAS.label)
    keys = KeysField(KEYS.label)
    grace_minutes = GRACE.form_field()
    is_for_reserve = RESERVE.form_field()
    shown_preset = forms.CharField(required=False, widget=forms.HiddenInput, max_length=20)
    shown_until = forms.CharField(required=False, widget=forms.HiddenInput, max_length=40)

    clash: CodeClash | None = None
    refused: Intent | None = None
    issued_visits: Sequence[Visit] = ()

    def __init__(self, *args: Any, desk: DeskData, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.desk = desk
        self.now = hours.now()
        self.initial = {**self._initial_values(), **self.initial}
        areas = [area for preset in desk.presets for area in preset.area_ids]
        keys = [value for preset in desk.presets for value in places.values_of(preset.keys)]
        inputs.set_choices(
            self,
            preset=[(str(preset.pk), str(preset)) for preset in desk.presets],
            area_ids=desk.places.area_choices([*areas, *self.initial["area_ids"]]),
            keys=desk.places.key_choices([*keys, *self.initial["keys"]]),
        )
        if not desk.presets:
            del self.fields["preset"]

    def _initial_values(self) -> _Values:
        """Return the values of a new form: those of the default preset, beginning now."""
        number = str(self.initial.get("preset") or "")
        preset = self.desk.preset(number) or self.desk.default
        language = "ja" if (get_language() or "").startswith("ja") else "en"
        filled = preset_values(preset, self.now, language)
        return {
            **filled,
            "preset": str(preset.pk) if preset else "",
            "shown_preset": str(preset.pk) if preset else "",
            "shown_until": filled["until"],
            "language": language,
            "delivery": self.desk.settings.delivery,
            "start": None,
        }

    # Cleaning

    def clean(self) -> _Values:
        cleaned = super().clean() or {}
        cleaned["language"] = cleaned.get("language") or "ja"
        cleaned["delivery"] = cleaned.get("delivery") or self.desk.settings.delivery
        self._apply_preset(cleaned)
        if "until" in cleaned and "start" not in self.errors:
            self._clean_hours(cleaned)
        if cleaned["delivery"] == "mail" and not cleaned.get("email") and "email" not in self.errors:
            self.add_error("email", _t("Enter the e-mail address for the code."))
        return cleaned

    def _apply_preset(self, cleaned: _Values) -> None:
        chosen = self.desk.preset(cleaned.get("preset") or "") or self.desk.default
        cleaned["chosen"] = chosen
        shown = self.desk.preset(str(cleaned.get("shown_preset") or ""))
        start = cleaned.get("start") or self.now
        new = preset_values(chosen, start, cleaned["language"])
        old = [preset_values(shown, start, language) for language in ("ja", "en")] if shown else []
        for name in PRESET_FIELDS:
            if name not in cleaned:
                continue
            if name == "until":
                is_unchanged = cleaned[name] in ("", cleaned.get("shown_until"))
            elif shown is None:
                is_unchanged = not cleaned[name]
            else:
                is_unchanged = any(_same(cleaned[name], values[name]) for values in old)
            if is_unchanged:
                cleaned[name] = new[name]
        if cleaned.get("grace_minutes") is None and "grace_minutes" not in self.errors:
            cleaned["grace_minutes"] = 0

    def _clean_hours(self, cleaned: _Values) -> None:
        start = cleaned.get("start") or self.now
        try:
            end = hours.parse_end(cleaned["until"], start, seen=cleaned.get("seen_end", ""))
            inputs.validate_year(end)
        except ValidationError as error:
            self.add_error("until", error)
            return
        cleaned["use_date_start"], cleaned["use_date_end"] = start, end
        if end <= start:
            self.add_error("until", _t("The end is before the start."))
        elif end <= self.now:
            self.add_error("until", _t("This end time has passed."))

    @property
    def end_reading(self) -> hours.EndReading | None:
        """Return how the shown text of the end is read."""
        start = self.cleaned_data.get("start") if self.is_bound else self.initial["start"]
        return hours.describe_end(str(self["until"].value() or ""), start or self.now)

    @property
    def is_walk_in(self) -> bool:
        """Return whether the guests are at the desk.

        They are if the code begins now and is handed over here, unless the preset excludes it.
        """
        cleaned = self.cleaned_data
        elsewhere = cleaned.get("start") or cleaned["delivery"] == "mail" or cleaned["is_for_reserve"]
        return not elsewhere and (cleaned["chosen"] is None or cleaned["chosen"].arrives)

    @property
    def names(self) -> list[str]:
        return [self.cleaned_data["name"], *self.cleaned_data["others"]]

    def orders(self) -> list[CodeOrder]:
        """Return one order for each guest."""
        cleaned = self.cleaned_data
        host = host_of(cleaned["host"])
        return [
            CodeOrder(
                name=name,
                start=cleaned["use_date_start"],
                end=cleaned["use_date_end"],
                area_ids=cleaned["area_ids"],
                keys=places.keys_of(cleaned["keys"]),
                grace_minutes=cleaned["grace_minutes"],
                email=cleaned["email"],
                mail=cleaned["delivery"] == "mail",
                remarks=cleaned["remarks"] if cleaned["delivery"] == "mail" else "",
                is_for_reserve=cleaned["is_for_reserve"],
                checks_in=self.is_walk_in,
                company=cleaned["company"],
                host=host,
                preset=cleaned["chosen"],
            )
            for name in self.names
        ]


def _same(entered: Any, initial: Any) -> bool:
    if isinstance(initial, list):
        return sorted(entered) == sorted(initial)
    if isinstance(initial, str):
        return " ".join(str(entered).split()) == " ".join(initial.split())
    return bool(entered == initial)


def load_desk() -> DeskData:
    """Load presets, places and settings of the tenant in scope."""
    return DeskData(queries.presets(), GuestPlaces(), queries.desk_settings())


def initial_values(query: Mapping[str, str]) -> _Values:
    """Return values for a new form from `?preset=3`, `?host=…`, `?name=…`, or `?again=12` (a visit to repeat)."""
    initial: _Values = {name: query[name][:200] for name in ("name", "host", "company", "preset") if name in query}
    again = query.get("again", "")
    if again.isdecimal() and len(again) < 19:
        visit = Visit.objects.select_related("intent").filter(pk=again).exclude(stage=Stage.REQUESTED).first()
        initial |= _values_of_visit(visit) if visit is not None else {}
    return {name: value for name, value in initial.items() if "\x00" not in str(value)}


def _values_of_visit(visit: Visit) -> _Values:
    """Return a visit's values for the form, so that nothing has to be typed again. The code will be a new one."""
    values: dict[str, Any] = {"name": visit.guest_name, "company": visit.company, "host": visit.host_name}
    now = hours.now()
    start = visit.use_date_start if visit.use_date_start > now else None
    if visit.use_date_end > now:
        values |= {"start": start, "until": hours.format_end(visit.use_date_end, start or now)}
    if visit.preset_id is not None:
        values["preset"] = str(visit.preset_id)
    body = visit.intent.body if visit.intent is not None else None
    return values | (_values_of_body(body) if body else {})


def _values_of_body(body: dict[str, Any]) -> dict[str, Any]:
    method = body.get(METHOD.name) or {}
    return {
        AREAS.input_name: list(body.get(AREAS.name, [])),
        KEYS.input_name: places.values_of(body.get(KEYS.name, [])),
        GRACE.input_name: body.get(GRACE.name, 0),
        EMAIL.input_name: method.get(EMAIL.name) or body.get(EMAIL.name, ""),
        METHOD.input_name: "mail" if EMAIL.name in method else "direct",
        REMARKS.input_name: method.get(REMARKS.name, ""),
        RESERVE.input_name: body.get(RESERVE.name, False),
    }


def script_data(desk: DeskData) -> str:
    """Return the JSON from which `static/js/guests.js` shows the chosen preset at once."""
    return json.dumps({str(preset.pk): _script_preset(preset) for preset in desk.presets} | {"": _script_preset(None)})


def _script_preset(preset: Preset | None) -> dict[str, Any]:
    now = hours.now()
    japanese, english = preset_values(preset, now, "ja"), preset_values(preset, now, "en")
    minutes = int(hours.DEFAULT_DURATION.total_seconds() // 60) if preset is None else preset.minutes
    return {
        "minutes": minutes,
        "until": f"{preset.until:%H:%M}" if preset is not None and preset.until is not None else None,
        "area_ids": japanese["area_ids"],
        "keys": japanese["keys"],
        "grace_minutes": japanese["grace_minutes"],
        "ja": japanese["remarks"],
        "en": english["remarks"],
    }
