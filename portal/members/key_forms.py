"""Temporary keys: which, for how long, and what the log says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi import limits
from portal.core.intents.actions import Asker
from portal.core.mirror.models import KeyBox, Member
from portal.core.ui import inputs
from portal.members import temporary

# What the form calls the names of operation 11.
TEMPORARY_INPUTS = {"targets_list": ("units",), "timer": ("period",), "info": ("info",)}
PERIODS = (900, 3600, 4 * 3600, 8 * 3600, 24 * 3600)
OTHER = "other"


@dataclass(frozen=True)
class Unit:
    """One key as the form shows it. `permitted` is None while the portal does not know."""

    value: str
    number: str
    name: str
    restricted: bool
    permitted: bool | None
    chosen: bool


@dataclass(frozen=True)
class Box:
    name: str
    units: list[Unit]

    @property
    def open(self) -> bool:
        return any(unit.chosen for unit in self.units)

    @property
    def forbidden(self) -> bool:
        """Whether the member surely holds no permission for any key here."""
        return all(unit.permitted is False for unit in self.units)


class TemporaryForm(forms.Form):
    """What operation 11 takes. `boxes` are the mirror's key boxes; keys it does not know cannot be chosen."""

    units = forms.MultipleChoiceField(label=_("Keys"), error_messages={"required": _("Choose at least one key.")})
    period = forms.ChoiceField(label=_("For how long"), widget=forms.RadioSelect)
    seconds = forms.IntegerField(
        label=_("Seconds"), required=False, min_value=0, max_value=limits.TEMPORARY_USE_SECONDS_MAX
    )
    device_action = forms.BooleanField(
        label=_("Signal at the key box"),
        required=False,
        help_text=_("The key box beeps and lights up when the request arrives."),
    )
    info = inputs.line(_("For the log"), limits.INFO_MAX, help_text=_("Leave empty to use your e-mail address."))

    def __init__(self, *args: Any, member: Member, boxes: Sequence[KeyBox], **kwargs: Any) -> None:
        super().__init__(*args, initial={"period": str(PERIODS[1])}, **kwargs)
        self.member, self.key_boxes = member, boxes
        self.fields["units"].choices = [(value, value) for box in boxes for value, _unit in _units(box)]
        periods = [(str(seconds), temporary.duration(seconds)) for seconds in PERIODS]
        self.fields["period"].choices = [*periods, (OTHER, _t("Other"))]

    @property
    def boxes(self) -> list[Box]:
        """The key boxes with their keys, as they are drawn."""
        chosen = set(self["units"].value() or ())
        drawn = [
            Box(
                str(box),
                [
                    Unit(
                        value,
                        str(unit["unit_no"]),
                        str(unit.get("unit_name") or ""),
                        bool(unit.get("restriction")),
                        temporary.permits(self.member.rights, box.key_device_id, str(unit["unit_no"])),
                        value in chosen,
                    )
                    for value, unit in _units(box)
                ],
            )
            for box in self.key_boxes
        ]
        return sorted(drawn, key=lambda box: box.forbidden)

    @property
    def hopeless(self) -> bool:
        """Whether, as far as the portal knows, the service can only refuse."""
        return all(box.forbidden for box in self.boxes)

    def clean_units(self) -> list[str]:
        chosen = list(self.cleaned_data["units"])
        if len({value.partition("@")[2] for value in chosen}) > limits.TEMPORARY_USE_TARGETS_MAX:
            most = limits.TEMPORARY_USE_TARGETS_MAX
            raise forms.ValidationError(_t("You can select keys from at most %(n)d key boxes."), params={"n": most})
        return chosen

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("period") == OTHER and given.get("seconds") is None and "seconds" not in self.errors:
            self.add_error("seconds", _t("Enter the number of seconds."))
        return given

    def body(self, by: Asker) -> dict[str, Any]:
        """What to send."""
        given, units = self.cleaned_data, {}
        for value in given["units"]:
            number, _at, box = value.partition("@")
            units.setdefault(box, []).append(number)
        seconds = given["seconds"] if given["period"] == OTHER else int(given["period"])
        signal = bool(given["device_action"])
        return temporary.body(units=units, seconds=seconds, signal=signal, info=given["info"].strip(), by=by)


def _units(box: KeyBox) -> list[tuple[str, dict[str, Any]]]:
    """(value, unit) of each key of a box that has a number the service takes."""
    listed = box.units if isinstance(box.units, list) else []
    known = [unit for unit in listed if isinstance(unit, dict) and len(str(unit.get("unit_no", ""))) == 2]
    return [(f"{unit['unit_no']}@{box.key_device_id}", unit) for unit in known]
