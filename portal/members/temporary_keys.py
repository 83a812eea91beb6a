"""Temporary key use (specification: operation 11): keys that a member can take for a limited time.

Requests are sent at most once, and never later than 15 seconds after the click. The time starts when the service
receives the request; a repeated request extends it. The service does not report running uses, so they are derived from
our own requests.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accessapi import limits
from portal.base.ui import inputs
from portal.base.ui.inputs import set_choices
from portal.base.ui.value_words import add_label, join_groups, join_values
from portal.domain.budget.priorities import Priority
from portal.domain.intents.actions import Requester, submit
from portal.domain.intents.models import Intent, State, target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from portal.domain.people.models import Member
from portal.domain.places.models import KeyBox
from tenants.roles import Permission
from tenants.sentences import coded_sentence

OPERATION = "temporary_use"
# Maps fields of the operation to inputs of the form.
INPUTS_BY_FIELD = {"targets_list": ("units",), "timer": ("period",), "info": ("info",)}
PERIODS = (900, 3600, 4 * 3600, 8 * 3600, 24 * 3600)
OTHER_PERIOD = "other"
Units = Mapping[str, Sequence[str]]


def request_body(*, units: Units, seconds: int, signal: bool, info: str, by: Requester) -> dict[str, Any]:
    """Return the body of operation 11. If `info` is empty, the service's log shows the requester's e-mail address."""
    targets = [{"device_id": box, "unit_no_list": list(numbers)} for box, numbers in units.items()]
    info = (info or str(by.user.email))[: limits.INFO_MAX]
    return {"target": "key", "timer": seconds, "targets_list": targets, "device_action": signal, "info": info}


def request_keys(*, member: Member, body: Mapping[str, Any], by: Requester, nonce: Nonce) -> Intent:
    """Request the keys of `body` for the member. The time starts when the service receives the request."""
    units = {each["device_id"]: each["unit_no_list"] for each in body["targets_list"]}
    return submit(
        Command(
            permission=Permission.DOORS_OPERATE,
            operation=OPERATION,
            target=target_of("member", member.member_id),
            title=coded_sentence("member.temporary_keys", name=member),
            path={"member_id": member.member_id},
            body=dict(body),
            after={
                "keys": keys_text(units, box_names(units)),
                "time": duration_text(body["timer"]),
                "info": body["info"],
            },
            priority=Priority.DOORS,
        ),
        by=by,
        nonce=nonce,
    )


@dataclass(frozen=True)
class RunningUse:
    """Keys that a member can take now because of our request. `is_certain` is False after a lost answer."""

    box: str
    units: tuple[str, ...]
    until: datetime
    by: str
    is_certain: bool

    @property
    def seconds(self) -> int:
        return max(0, round((self.until - timezone.now()).total_seconds()))


def running_uses(intents: Iterable[Intent]) -> list[RunningUse]:
    """Return the uses that still run, from the newest requests about one member.

    For each key the newest request counts.
    """
    found: list[RunningUse] = []
    covered_keys: set[tuple[str, str]] = set()
    now = timezone.now()
    for intent in intents:
        if intent.operation != OPERATION or intent.state not in (State.SUCCEEDED, State.UNCERTAIN):
            continue
        body, reached = intent.body or {}, intent.result.get("sent_device_id_list")
        until = (intent.finished_at or intent.created_at) + timedelta(seconds=int(body.get("timer") or 0))
        for target in body.get("targets_list", ()):
            box = target["device_id"]
            if isinstance(reached, list) and box not in reached:
                continue
            units = tuple(unit for unit in target["unit_no_list"] if (box, unit) not in covered_keys)
            covered_keys.update((box, unit) for unit in units)
            if units and until > now:
                found.append(RunningUse(box, units, until, str(intent.by), intent.state == State.SUCCEEDED))
    known = box_names({each.box: () for each in found})
    return [replace(each, box=known.get(each.box, each.box)) for each in found]


def box_names(units: Iterable[str]) -> dict[str, str]:
    """Return the names of key boxes by ID, as far as the mirror has them."""
    box_ids = list(units)
    if not box_ids:
        return {}
    return {box.key_device_id: str(box) for box in KeyBox.objects.filter(key_device_id__in=box_ids).defer("status")}


def keys_text(units: Units, known: Mapping[str, str]) -> str:
    """Return keys as text: `Key box 1: 03, 04; Key box 2: 01`."""
    return join_groups(add_label(join_values(numbers), known.get(box, box)) for box, numbers in units.items())


def duration_text(seconds: int) -> str:
    """Return a duration as text, in the largest unit that is exact."""
    if seconds and seconds % 3600 == 0:
        return ngettext("%(n)d hour", "%(n)d hours", seconds // 3600) % {"n": seconds // 3600}
    if seconds and seconds % 60 == 0:
        return ngettext("%(n)d minute", "%(n)d minutes", seconds // 60) % {"n": seconds // 60}
    return ngettext("%(n)d second", "%(n)d seconds", seconds) % {"n": seconds}


def has_permission(rights: Any, box: str, unit: str) -> bool | None:
    """Return whether the member has permission for a key at any time; None if the portal does not know.

    The service requires a permission (specification: operation 11). Hours do not matter: a schedule counts as
    permission.
    """
    keys = rights.get("keys_pass") if isinstance(rights, dict) else None
    if not isinstance(keys, dict):
        return None if rights is None or keys is not None else False
    mode = keys.get("default_mode")
    if mode != "option":
        return {"allow_all": True, "deny_all": False}.get(str(mode))
    listed = [each for each in keys.get("key_devices_list") or () if isinstance(each, dict)]
    entry = next((each for each in listed if each.get("key_device_id") == box), None)
    if entry is None:
        return False
    if entry.get("default_mode") != "option":
        return {"allow_all": True, "deny_all": False}.get(str(entry.get("default_mode")))
    units = [each for each in entry.get("units") or () if isinstance(each, dict) and each.get("unit_no") == unit]
    effect = (units[0].get("pass") or {}).get("effect") if units else "deny_all"
    return {"allow_all": True, "allow": True, "deny_all": False}.get(str(effect))


@dataclass(frozen=True)
class KeyChoice:
    """A key as the form shows it. `is_permitted` is None if the portal does not know."""

    value: str
    number: str
    name: str
    is_restricted: bool
    is_permitted: bool | None
    is_chosen: bool


@dataclass(frozen=True)
class BoxChoices:
    """A key box as the form shows it."""

    name: str
    units: list[KeyChoice]

    @property
    def is_open(self) -> bool:
        return any(unit.is_chosen for unit in self.units)

    @property
    def is_forbidden(self) -> bool:
        """Check whether the member surely has no permission for any key of this box."""
        return all(unit.is_permitted is False for unit in self.units)


def box_choices(boxes: Iterable[KeyBox], rights: Any, chosen: Collection[str]) -> list[BoxChoices]:
    """Return the key boxes with the keys whose number the service accepts. Boxes without permission come last."""
    return sorted((_box_choices(box, rights, chosen) for box in boxes), key=lambda box: box.is_forbidden)


def _box_choices(box: KeyBox, rights: Any, chosen: Collection[str]) -> BoxChoices:
    units = []
    for unit in box.units if isinstance(box.units, list) else ():
        number = str(unit.get("unit_no", "")) if isinstance(unit, dict) else ""
        if len(number) == 2:
            value, may = f"{number}@{box.key_device_id}", has_permission(rights, box.key_device_id, number)
            name, restricted = str(unit.get("unit_name") or ""), bool(unit.get("restriction"))
            units.append(KeyChoice(value, number, name, restricted, may, value in chosen))
    return BoxChoices(str(box), units)


class TemporaryKeysForm(forms.Form):
    """The form for operation 11. `boxes` are the mirror's key boxes; only their keys can be chosen."""

    units = forms.MultipleChoiceField(label=_("Keys"), error_messages={"required": _("Choose at least one key.")})
    period = forms.ChoiceField(label=_("For how long"), widget=forms.RadioSelect)
    seconds = forms.IntegerField(
        label=_("Seconds"), required=False, min_value=0, max_value=limits.TEMPORARY_USE_SECONDS_MAX,
        error_messages={"max_value": _("Enter at most 24 hours.")},
    )  # fmt: skip
    device_action = forms.BooleanField(
        label=_("Signal at the key box"), required=False,
        help_text=_("The key box beeps and lights up when the request arrives."),
    )  # fmt: skip
    info = inputs.line_field(_("For the log"), limits.INFO_MAX, help_text=_("Leave empty to use your e-mail address."))

    def __init__(
        self, data: Any = None, *, member: Member, boxes: Sequence[KeyBox], chosen: Sequence[str] = ()
    ) -> None:
        super().__init__(data, initial={"period": str(PERIODS[1]), "units": list(chosen)})
        self._drawn = partial(box_choices, boxes, member.rights)
        periods = [(str(seconds), duration_text(seconds)) for seconds in PERIODS]
        units = [unit.value for box in self.boxes for unit in box.units]
        set_choices(self, units=[(value, value) for value in units], period=[*periods, (OTHER_PERIOD, _t("Other"))])

    @property
    def boxes(self) -> list[BoxChoices]:
        """Return the key boxes with their keys, for the template."""
        return self._drawn(self["units"].value() or ())

    @property
    def is_hopeless(self) -> bool:
        """Check whether the service will surely refuse, as far as the portal knows."""
        return all(box.is_forbidden for box in self.boxes)

    def clean_units(self) -> list[str]:
        chosen, most = list(self.cleaned_data["units"]), limits.TEMPORARY_USE_TARGETS_MAX
        if len({value.partition("@")[2] for value in chosen}) > most:
            raise ValidationError(_t("You can select keys from at most %(n)d key boxes."), params={"n": most})
        return chosen

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("period") == OTHER_PERIOD and cleaned.get("seconds") is None and "seconds" not in self.errors:
            self.add_error("seconds", _t("Enter the number of seconds."))
        return cleaned

    def body(self, by: Requester) -> dict[str, Any]:
        """Return the body of the request."""
        cleaned = self.cleaned_data
        units: dict[str, list[str]] = {}
        for value in cleaned["units"]:
            number, _at, box = value.partition("@")
            units.setdefault(box, []).append(number)
        seconds = cleaned["seconds"] if cleaned["period"] == OTHER_PERIOD else int(cleaned["period"])
        signal = bool(cleaned["device_action"])
        return request_body(units=units, seconds=seconds, signal=signal, info=cleaned["info"].strip(), by=by)
