"""The descriptions of a guest's fields (specification: resource "Guest", operations 19 to 22)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accessapi.resources.guests import GuestUpdate
from portal.base.ui import inputs
from portal.domain.people.field_types import Flag, Moment, SecretText, Text, WholeNumberField
from portal.domain.people.fields import NEW_MASK, Field, FieldSet, Item, mask_email
from portal.domain.people.models import Guest


@dataclass(frozen=True, eq=False)
class GuestPlacesField(Field):
    """The areas or keys of a guest. Single reads may contain them only as permissions, in the field `rights_field`."""

    rights_field: str = ""

    def value_from_read(self, item: Item) -> Any:
        """Return the written value from a single read; None when the response does not contain it."""
        if item.get(self.name) is not None:
            return item[self.name]
        return (_areas_of if self.rights_field == "devices_pass" else _keys_of)(item.get(self.rights_field))

    def is_same(self, new: Any, current: Any) -> bool:
        return _comparable(new) == _comparable(current)


@dataclass(frozen=True, eq=False)
class Email(SecretText):
    """An e-mail address; the audit log stores only its first letter."""

    def form_field(self, **more: Any) -> forms.Field:
        return inputs.AddressField(max_length=self.limits["maxLength"], required=False, **self._input_options(**more))

    def audit_values(self, value: Any, mask: str = NEW_MASK) -> dict[str, Any]:
        return {self.name: mask_email(value or "", mask)}


@dataclass(frozen=True, eq=False)
class IssuingMethodField(Field):
    """The way in which the guest gets the QR code, with the code or the e-mail address."""

    def audit_values(self, value: Any, mask: str = NEW_MASK) -> dict[str, Any]:
        if "email" not in value:
            return {CODE.audit_name: mask}
        remarks = {REMARKS.name: value[REMARKS.name]} if value.get(REMARKS.name) else {}
        return {self.audit_name: mask_email(value["email"], mask), **remarks}


GUEST_NAME = Text(
    "guest_name", _("Name"), request_model=GuestUpdate, key="name_key", required_message=_("Enter a name."),
    input_names=("name",),
    audit_name="guest_name",
)  # fmt: skip
EMAIL = Email("email", _("E-mail"), request_model=GuestUpdate)
START = Moment("use_date_start", _("Starts"), request_model=GuestUpdate, input_names=("start",))
END = Moment("use_date_end", _("Ends"), request_model=GuestUpdate, input_names=("until", "end"))
KEYS_RETURN_END = Moment("key_return_date_end", _("Return keys by"))
RESERVE = Flag("is_for_reserve", _("For a reservation"), help=_("Registers this visit as a reservation."))
CODE = SecretText(
    "qrcode_data", _("Code"), request_model=GuestUpdate, fingerprint="qr_fingerprint", purpose="guest qr",
    audit_name="code",
    input_names=("new_code", "delivery"),
)  # fmt: skip
METHOD = IssuingMethodField(
    "qrcode_issuing_method", _("Code sent to"), audit_name="code_sent_to", input_names=("delivery",),
    part_inputs={"qrcode_issuing_method.email": ("email",)},
)  # fmt: skip
GRACE = WholeNumberField(
    "return_grace_period", _("Minutes to return keys"), request_model=GuestUpdate, json_column="detail", default=0,
    input_names=("grace_minutes",), help=_("How long after the end time keys can be returned."),
    invalid_message=_("Enter a whole number of minutes."), too_large_message=_("Enter at most 7 days."),
)  # fmt: skip
REMARKS = Text("remarks", _("Remarks"), request_model=GuestUpdate, json_column="detail", default="", is_multiline=True)
AREAS = GuestPlacesField("area_id_list", _("Areas"), request_model=GuestUpdate, json_column="detail", default=[],
input_names=("area_ids",),
               rights_field="devices_pass")  # fmt: skip
KEYS = GuestPlacesField("key_devices_list", _("Keys"), request_model=GuestUpdate, json_column="detail", default=[],
input_names=("keys",),
              rights_field="keys_pass")  # fmt: skip

GUEST = FieldSet(
    Guest,
    Field("guest_id", _("Guest ID")),
    GUEST_NAME,
    EMAIL,
    START,
    END,
    KEYS_RETURN_END,
    RESERVE,
    CODE,
    METHOD,
    AREAS,
    KEYS,
    GRACE,
    REMARKS,
    Field("devices_pass", _("Areas"), json_column="detail"),
    Field("keys_pass", _("Keys"), json_column="detail"),
)
# Fields that only single reads contain and that changes can set.
DETAIL_FIELDS = tuple(each for each in GUEST if each.json_column and each.request_model)


def values_from_read(item: Item) -> dict[str, Any]:
    """Return the written values from a single read, by name; None for what the response does not contain."""
    found = {name: item.get(name) for name in GUEST.names}
    if found[GRACE.name] is None:
        found[GRACE.name] = minutes_between(item.get(END.name), item.get(KEYS_RETURN_END.name))
    return found | {AREAS.name: AREAS.value_from_read(item), KEYS.name: KEYS.value_from_read(item)}


def minutes_between(end: datetime | None, back: datetime | None) -> int | None:
    """Return the minutes between the end of use and the last moment to return keys."""
    return None if end is None or back is None else int((back - end).total_seconds() // 60)


def _areas_of(devices_pass: Any) -> list[str] | None:
    """Return the areas that a guest's permissions list; None when they list none."""
    listed = _listed_entries(devices_pass, "areas_list")
    if listed is None:
        return None
    return [str(each["area_id"]) for each in listed if "area_id" in each and _allows(each.get("pass"))]


def _keys_of(keys_pass: Any) -> list[dict[str, Any]] | None:
    listed = _listed_entries(keys_pass, "key_devices_list")
    if listed is None:
        return None
    found = []
    for box in listed:
        units = _listed_entries(box, "units")
        if units is None or "key_device_id" not in box:
            return None
        numbers = [str(unit["unit_no"]) for unit in units if "unit_no" in unit and _allows(unit.get("pass"))]
        found.append({"key_device_id": str(box["key_device_id"]), "units_no_list": numbers})
    return found


def _listed_entries(rights: Any, name: str) -> list[dict[str, Any]] | None:
    """Return the list in mode `option`, [] in mode `deny_all`; None for other modes (allow_all, unknown)."""
    mode = rights.get("default_mode") if isinstance(rights, dict) else None
    if mode == "deny_all":
        return []
    listed = rights.get(name) if mode == "option" else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, Iterable) else None


def _allows(rule: Any) -> bool:
    return not isinstance(rule, dict) or rule.get("effect") != "deny_all"


def _comparable(items: Iterable[Any]) -> set[Any]:
    return {
        (item.get("key_device_id"), tuple(sorted(item.get("units_no_list") or [])))
        if isinstance(item, Mapping)
        else item
        for item in items
    }
